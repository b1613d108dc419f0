import type { EnclaveReport } from '@svc/contracts/messages';
import type { TeeAttestation } from '@svc/api/tee';

/** What is known about an attestation in addition to the report. */
interface Attesting {
  readonly model: string;
  /** Whether the gateway drew the nonce, because the client sent none. */
  readonly isOwnNonce: boolean;
  readonly durationMs: number;
}

/** A report as clients see it, with what was checked here, and what was not. */
export function attestationView(
  report: EnclaveReport,
  { model, isOwnNonce, durationMs }: Attesting,
): TeeAttestation {
  const { nonce, publicKey, address, quote, isDebug, isSimulated, isMeasured, warning } = report;
  const { nvidiaPayload, eventLog, info } = report;
  return {
    verified: !isDebug,
    simulated: isSimulated,
    ...(warning !== undefined && { warning }),
    nonce,
    nonce_source: isOwnNonce ? 'server' : 'client',
    model,
    tee_provider: isSimulated ? 'simulator' : (report.provider ?? 'vllm-proxy'),
    tee_hardware: isSimulated ? 'none' : 'intel-tdx',
    signing_key: publicKey,
    signing_public_key: publicKey,
    signing_address: address,
    signing_algo: 'ecdsa',
    intel_quote: quote,
    ...(nvidiaPayload !== undefined && { nvidia_payload: nvidiaPayload }),
    ...(eventLog !== undefined && { event_log: eventLog }),
    ...(info !== undefined && { info }),
    server_verification: {
      tdx: {
        valid: !isDebug,
        signatureValid: null,
        certificateChainValid: null,
        debug: isDebug,
        measurements: report.measurements,
        measurementsAccepted: isMeasured ? true : null,
      },
      signingAddressBinding: { bound: true, reportDataAddress: address },
      nonceBinding: { bound: true, method: report.nonceMethod },
      verifiedAt: new Date().toISOString(),
      verificationDurationMs: Math.round(durationMs),
    },
  };
}
