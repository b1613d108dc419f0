import type { RouteDefinition } from '../route/route-definition.js';
import { TeeAttestation, TeeQuery, TeeSignature, TeeSignatureQuery } from './tee.js';

/** Attested enclaves. */
export const teeRoutes = {
  teeAttestation: {
    method: 'GET',
    path: '/api/v1/tee/attestation',
    operationId: 'getTeeAttestation',
    tag: 'Enclaves',
    summary: 'Attests an enclave that runs a model',
    description: `Needs no key. The response has the key for which a client encrypts its messages, and a quote that contains the client's nonce
and the address of that key. Before a client sends anything, it must check the quote itself. Both routes together take 10 requests per
minute from a client's network.`,
    access: 'public',
    status: 200,
    query: TeeQuery,
    reply: TeeAttestation,
    headers: ['balances'],
    refusals: [
      'INVALID_REQUEST',
      'MODEL_NOT_FOUND',
      'MODEL_RETIRED',
      'RATE_LIMIT_EXCEEDED',
      'TEE_ATTESTATION_FAILED',
      'MODEL_OFFLINE',
      'MODEL_AT_CAPACITY',
    ],
  },
  teeSignature: {
    method: 'GET',
    path: '/api/v1/tee/signature',
    operationId: 'getTeeSignature',
    tag: 'Enclaves',
    summary: 'Returns what an enclave has signed about an encrypted completion',
    description: 'Needs no key. Enclaves keep signatures for about 20 minutes.',
    access: 'public',
    status: 200,
    query: TeeSignatureQuery,
    reply: TeeSignature,
    headers: ['balances'],
    refusals: [
      'INVALID_REQUEST',
      'MODEL_NOT_FOUND',
      'MODEL_RETIRED',
      'RATE_LIMIT_EXCEEDED',
      'TEE_SIGNATURE_FAILED',
      'MODEL_OFFLINE',
      'MODEL_AT_CAPACITY',
    ],
  },
} as const satisfies Record<string, RouteDefinition>;
