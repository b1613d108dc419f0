import { randomBytes } from 'node:crypto';
import type { PaymentRequired, SignInChallenge } from '@svc/api/wallets';
import { SIGN_IN_CHAINS } from './sign-in-chains.js';

/** How long a challenge may be used. Source: the public interface. */
const CHALLENGE_MS = 300_000;

const STATEMENT = 'Sign in to Svc AI';

/** The challenge that a wallet may sign to sign in at a path of the public interface. */
export function signInChallenge(origin: URL, uri: string): SignInChallenge {
  const now = Date.now();
  return {
    info: {
      domain: origin.host,
      uri,
      version: '1',
      nonce: randomBytes(16).toString('hex'),
      issuedAt: new Date(now).toISOString(),
      expirationTime: new Date(now + CHALLENGE_MS).toISOString(),
      statement: STATEMENT,
    },
    supportedChains: SIGN_IN_CHAINS.map(({ network, type }) => ({ chainId: network, type })),
  };
}

/** The same challenge as an extension of x402. */
export function signInExtension(origin: URL, uri: string): PaymentRequired['extensions'] {
  const { info, supportedChains } = signInChallenge(origin, uri);
  return {
    'sign-in-with-x': { info: { ...info, resources: [uri] }, supportedChains, schema: PAYLOAD_SCHEMA },
  };
}

const text = { type: 'string' };
const uri = { type: 'string', format: 'uri' };
const time = { type: 'string', format: 'date-time' };

/** Schema of a sign-in in its parts. Source: the extension `sign-in-with-x` of x402. */
const PAYLOAD_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    domain: text,
    address: text,
    statement: text,
    uri,
    version: text,
    chainId: text,
    type: text,
    nonce: text,
    issuedAt: time,
    expirationTime: time,
    notBefore: time,
    requestId: text,
    resources: { type: 'array', items: uri },
    signature: text,
  },
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
};
