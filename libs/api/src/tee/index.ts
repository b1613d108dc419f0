export {
  ALGORITHM,
  CLIENT_KEY,
  encryptionHeaders,
  type EncryptionHeaders,
  faultyHeaders,
  MODEL_KEY,
} from './encryption-headers.js';
export { TeeAttestation, TeeQuery, TeeSignature, TeeSignatureQuery } from './tee.js';
