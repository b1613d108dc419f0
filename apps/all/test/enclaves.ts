import { randomBytes } from 'node:crypto';

/** The members of a model whose backends are simulated enclaves. */
export const ENCRYPTED_MODEL = {
  id: 'encrypted',
  capabilities: { supportsE2EE: true, supportsTeeAttestation: true },
} as const;

/** A simulated enclave as a backend. */
export const enclaveAt = (url: string, members: object = {}): object => ({
  kind: 'vllm-proxy',
  url: `${url}/v1`,
  model: 'encrypted',
  tee: { accept: 'simulated' },
  ...members,
});

export const newNonce = (): string => randomBytes(32).toString('hex');
