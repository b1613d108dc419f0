import { randomBytes, randomUUID } from 'node:crypto';
import type { LiveBackend } from '@svc/backend-calls';
import type { ReportCall } from '@svc/contracts/inference';
import type { EnclaveReport, EnclaveSignature } from '@svc/contracts/messages';
import type { ModelMode } from '../models/model-calls.js';
import { dialectOf } from '../dialects/dialects.js';
import { attestedKeyOf } from './attested-key.js';
import { checkedReport } from './checked-report.js';

/** GPUs need seconds for their evidence. */
const DEADLINE_MS = 10_000;

/** Evidence of eight GPUs is repeated for each key of the enclave. */
const REPORT_BYTES = 2_097_152;
const SIGNATURE_BYTES = 65_536;

const TIMES = { deadlineMs: DEADLINE_MS, pauseMs: DEADLINE_MS, isStream: false };

export const isEnclave = ({ backend }: LiveBackend): boolean =>
  backend.tee !== undefined && dialectOf(backend).enclave !== undefined;

/** A call for the report of an enclave. The report also says which key its backend holds. */
export const attestationMode = (nonce: string): ModelMode<{ readonly result: EnclaveReport }> => ({
  ...TIMES,
  at: ({ enclave }, live) => {
    const { model, tee } = live.backend;
    if (!enclave || !tee) return undefined;
    return {
      request: () => enclave.attestation(model, nonce),
      take: async (exchange) => {
        const text = await exchange.text(REPORT_BYTES);
        const report = checkedReport(enclave.readReport(text), { nonce, tee });
        attestedKeyOf(live).set(report);
        return { result: report };
      },
    };
  },
});

/** A call for the report of one backend, with a nonce of its own. */
export function ownAttestation(model: string, { name }: LiveBackend): ReportCall {
  const nonce = randomBytes(32).toString('hex');
  return { requestId: randomUUID(), accountId: 'attestation', model, backend: name, nonce };
}

/** A call for what an enclave has signed about the completion with this id. */
export const signatureMode = (
  id: string,
  algorithm: string,
): ModelMode<{ readonly result: EnclaveSignature }> => ({
  ...TIMES,
  at: ({ enclave }, { backend: { tee } }) =>
    enclave &&
    tee && {
      request: () => enclave.signature(id, algorithm),
      take: async (exchange) => ({ result: enclave.readSignature(await exchange.text(SIGNATURE_BYTES)) }),
    },
});
