import type { Backend } from '@svc/contracts/catalog';

/** How the health of a kind of backend is checked. */
interface CheckPlan {
  /** From the root of the host. */
  readonly path: string;
  /**
   * Whether it answers checks while it works. Of other servers a check that takes too long says nothing
   * while they have calls.
   */
  readonly isConcurrent: boolean;
}

/** Kinds that list their models. SGLang's `/health` may generate a token, so it is not used by default. */
const LISTING: ReadonlySet<Backend['kind']> = new Set([
  'openai',
  'kokoro',
  'vllm-proxy',
  'simulator',
  'llama-cpp-python',
]);

/** Kinds whose servers may do one thing at a time. */
const ONE_BY_ONE: ReadonlySet<Backend['kind']> = new Set([
  'whisper-cpp',
  'sdapi',
  'rembg',
  'comfyui',
  'kokoro',
  'llama-cpp-python',
]);

interface CheckedBackend {
  readonly backend: Pick<Backend, 'kind' | 'healthPath'>;
  /** The prefix of each call's path. */
  readonly basePath: string;
}

/**
 * `undefined` for a backend that is not checked. Nodes of blockchains have checks of their own, and those of
 * providers, who count requests, are checked only if the operator names a path.
 */
export function checkOf(
  { backend: { kind, healthPath }, basePath }: CheckedBackend,
  isHosted = false,
): CheckPlan | undefined {
  if (healthPath === false || kind === 'json-rpc' || (isHosted && healthPath === undefined)) return undefined;
  const path = healthPath ?? (LISTING.has(kind) ? `${basePath}/models` : '/');
  return { path, isConcurrent: !ONE_BY_ONE.has(kind) };
}

/** From here on a status shows a fault of the server; below, it has answered. */
const SERVER_FAULT = 500;

/** Statuses by which a server says that it does not have the path. */
const WITHOUT_PATH: ReadonlySet<number> = new Set([501, 505]);

/** Whether a response to a check shows that the server works. */
export const isAlive = (status: number): boolean => status < SERVER_FAULT || WITHOUT_PATH.has(status);
