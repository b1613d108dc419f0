import { z } from 'zod';

const Model = z.string().min(1).max(256);

export const TeeQuery = z.object({
  model: Model,
  nonce: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'must be 32 bytes in hex')
    .optional()
    .describe('32 random bytes in hex, which the quote must contain. Without it the server draws one.'),
});

const Hex = z.string();
const NOT_CHECKED = 'Always null: it is not checked here.';

const Tdx = z.object({
  valid: z.boolean().describe('Whether the quote is one of TDX and the enclave is not in debug mode.'),
  signatureValid: z.null().describe(NOT_CHECKED),
  certificateChainValid: z.null().describe(NOT_CHECKED),
  debug: z.boolean(),
  measurements: z.object({ mrtd: Hex, rtmr0: Hex, rtmr1: Hex, rtmr2: Hex, rtmr3: Hex }),
  measurementsAccepted: z
    .literal(true)
    .nullable()
    .describe('Whether the operator accepts this software; null if the operator accepts any.'),
});

export const TeeAttestation = z.object({
  verified: z
    .boolean()
    .describe(
      'Whether the quote contains the nonce and the address of the key, and the enclave is not in debug mode. The signature of the quote is for the client to check.',
    ),
  simulated: z.boolean().describe('Whether this is a simulator, which protects nothing.'),
  warning: z.string().optional(),
  nonce: z.string(),
  nonce_source: z.enum(['client', 'server']),
  model: z.string(),
  tee_provider: z.string(),
  tee_hardware: z.string(),
  signing_key: z.string().describe('The key to encrypt for: uncompressed, on secp256k1, in hex.'),
  signing_public_key: z.string().describe('The same.'),
  signing_address: z.string().describe('Its Ethereum address.'),
  signing_algo: z.literal('ecdsa'),
  intel_quote: z.string().describe('The quote in hex.'),
  nvidia_payload: z.string().optional().describe('Evidence of the GPUs, as JSON text. Not checked here.'),
  event_log: z.unknown().optional(),
  info: z.unknown().optional(),
  server_verification: z.object({
    tdx: Tdx,
    signingAddressBinding: z.object({ bound: z.literal(true), reportDataAddress: z.string() }),
    nonceBinding: z.object({ bound: z.literal(true), method: z.enum(['raw', 'sha256']) }),
    verifiedAt: z.string(),
    verificationDurationMs: z.int(),
  }),
});

export const TeeSignatureQuery = z.object({
  model: Model,
  request_id: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be the id of a completion')
    .describe('The id of an encrypted completion.'),
  signing_algo: z.literal('ecdsa').optional(),
});

export const TeeSignature = z.object({
  text: z
    .string()
    .describe('Two SHA-256 in hex, of the request and of the response, with a colon between them.'),
  text_covers: z
    .literal('fields')
    .optional()
    .describe(
      'The hashes are those of the ciphertexts alone, joined by line breaks. Without it they are of the bytes that the backend received and sent, which a client cannot reproduce.',
    ),
  signature: z.string().describe('By EIP-191: 65 bytes in hex.'),
  signing_address: z.string(),
  signing_algo: z.string(),
  model: z.string(),
  request_id: z.string(),
  requested_request_id: z.string(),
});

export type TeeQuery = z.infer<typeof TeeQuery>;
export type TeeAttestation = z.infer<typeof TeeAttestation>;
export type TeeSignatureQuery = z.infer<typeof TeeSignatureQuery>;
export type TeeSignature = z.infer<typeof TeeSignature>;
