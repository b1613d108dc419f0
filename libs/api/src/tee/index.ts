export { TeeAttestation, TeeQuery, TeeSignature, TeeSignatureQuery } from './tee.js';
