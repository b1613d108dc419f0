import type {
  AttestationCall,
  EnclaveReport,
  EnclaveSignature,
  SignatureCall,
} from '../messages/enclaves.js';
import type { CallOrigin, Served } from './calls.js';

export interface ReportCall extends CallOrigin, AttestationCall {
  /** The name of the only backend that may be called. */
  readonly backend?: string;
}

export interface SignedCall extends CallOrigin {
  readonly signed: SignatureCall;
}

/**
 * What the enclaves of a model say about themselves and about completions. Rejects as `Chat` does.
 */
export abstract class EnclaveReports {
  /** The report of a backend, checked against what the catalogue demands. */
  abstract report(call: ReportCall, signal: AbortSignal): Promise<Served<EnclaveReport>>;

  /** What an enclave has signed about an encrypted completion. */
  abstract signature(call: SignedCall, signal: AbortSignal): Promise<Served<EnclaveSignature>>;
}
