import { z } from 'zod';

/** A point of the curve secp256k1, uncompressed: 130 lower-case hex digits. */
export const PublicKey = z.string().regex(/^04[0-9a-f]{128}$/);

/** The keys of an encrypted chat. */
export interface EncryptionKeys {
  /** The key of the enclave, for which the messages are encrypted. */
  readonly modelKey: string;
  /** The key of the client, for which the response is to be encrypted. */
  readonly clientKey: string;
}

const Nonce = z.string().regex(/^[0-9a-f]{64}$/);
const Measurement = z.string();

/** The body of a `tee-attestation` call. */
export const AttestationCall = z.object({
  /** 32 bytes in hex. The quote must contain them, so that it cannot be an older one. */
  nonce: Nonce,
});
export type AttestationCall = z.infer<typeof AttestationCall>;

/**
 * The report of an enclave. Its quote contains the nonce and the address of the key, and satisfies what the
 * catalogue demands. The manufacturer's signature of the quote is not checked.
 */
export const EnclaveReport = z.object({
  nonce: Nonce,
  publicKey: PublicKey,
  /** The Ethereum address of the key: `0x` and 40 lower-case hex digits. */
  address: z.string(),
  /** The quote in hex. */
  quote: z.string(),
  /** Whether the quote has the nonce itself or its SHA-256. */
  nonceMethod: z.enum(['raw', 'sha256']),
  isDebug: z.boolean(),
  isSimulated: z.boolean(),
  /** Whether the catalogue lists the measurements of accepted software, so that these are among them. */
  isMeasured: z.boolean(),
  measurements: z.object({
    mrtd: Measurement,
    rtmr0: Measurement,
    rtmr1: Measurement,
    rtmr2: Measurement,
    rtmr3: Measurement,
  }),
  provider: z.string().optional(),
  warning: z.string().optional(),
  /** Evidence of the GPUs, as JSON text, and details about the enclave: unchecked, for the client. */
  nvidiaPayload: z.string().optional(),
  eventLog: z.unknown(),
  info: z.unknown(),
});
export type EnclaveReport = z.infer<typeof EnclaveReport>;

/** The body of a `tee-signature` call. */
export const SignatureCall = z.object({
  /** The id of the encrypted request. */
  requestId: z.string().min(1),
  algorithm: z.string().min(1),
});
export type SignatureCall = z.infer<typeof SignatureCall>;

/** What an enclave has signed about a response. */
export const EnclaveSignature = z.object({
  text: z.string(),
  signature: z.string(),
  address: z.string(),
  algorithm: z.string(),
  /** `fields`: the text covers the ciphertexts alone. Default: the whole request and response. */
  textCovers: z.literal('fields').optional(),
});
export type EnclaveSignature = z.infer<typeof EnclaveSignature>;
