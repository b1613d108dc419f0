import { randomBytes, randomUUID } from 'node:crypto';
import type { ReportCall } from '@svc/contracts/inference';
import type { EnclaveReport, EnclaveSignature } from '@svc/contracts/messages';
import { BackendError } from './dialects/backend-error.js';
import type { EnclaveDialect } from './dialects/dialect.js';
import { checkedReport } from './enclaves/checked-report.js';
import type { LiveBackend } from './backends/backend-pool.js';
import type { CallMode } from './backends/call-mode.js';

/** GPUs need seconds for their evidence. */
const DEADLINE_MS = 10_000;

/** Evidence of eight GPUs is repeated for each key of the enclave. */
const REPORT_BYTES = 2_097_152;
const SIGNATURE_BYTES = 65_536;

const TIMES = { deadlineMs: DEADLINE_MS, pauseMs: DEADLINE_MS, isStream: false };

export const isEnclave = ({ backend, dialect }: LiveBackend): boolean =>
  backend.tee !== undefined && dialect.enclave !== undefined;

/** A call for the report of an enclave. The report also says which key its backend holds. */
export function attestationMode(nonce: string): CallMode<{ readonly result: EnclaveReport }> {
  return {
    ...TIMES,
    serves: isEnclave,
    job: ({ dialect, backend }) => dialectOf(dialect.enclave).attestation(backend.model, nonce),
    take: async (exchange, live) => {
      const text = await exchange.text(REPORT_BYTES);
      const { tee = { accept: 'hardware' } } = live.backend;
      const report = checkedReport(dialectOf(live.dialect.enclave).readReport(text), { nonce, tee });
      live.attested.set(report);
      return { result: report };
    },
  };
}

/** A call for the report of one backend, with a nonce of its own. */
export function ownAttestation(model: string, { name }: LiveBackend): ReportCall {
  const nonce = randomBytes(32).toString('hex');
  return { requestId: randomUUID(), accountId: 'attestation', model, backend: name, nonce };
}

/** A call for what an enclave has signed about the completion with this id. */
export function signatureMode(
  id: string,
  algorithm: string,
): CallMode<{ readonly result: EnclaveSignature }> {
  return {
    ...TIMES,
    serves: isEnclave,
    job: ({ dialect }) => dialectOf(dialect.enclave).signature(id, algorithm),
    take: async (exchange, { dialect }) => {
      const text = await exchange.text(SIGNATURE_BYTES);
      return { result: dialectOf(dialect.enclave).readSignature(text) };
    },
  };
}

function dialectOf(enclave: EnclaveDialect | undefined): EnclaveDialect {
  if (!enclave) throw new BackendError(501, 'the dialect has no enclave');
  return enclave;
}
