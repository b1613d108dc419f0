import type { BackendJobStatus, CallKind, JobCallKind } from '@svc/contracts/inference';
import { presentable } from '@svc/runtime';
import { BackendError } from '../dialects/backend-error.js';
import type { JobResponse } from '../dialects/dialect.js';
import type { Refusal } from './backend-refusal.js';

/** The backend has given up, maybe after it had accepted the call. */
const TIMED_OUT = 408;

export const isJobCall = (kind: CallKind): kind is JobCallKind => kind.startsWith('job-');

/** Throws for a response by which a job has not ended. One that is not there, or has ended, needs no end. */
export function refuseUnended({ status, body }: JobResponse): object {
  if ((status >= 200 && status < 300) || status === 404 || status === 409) return {};
  throw new BackendError(status, body);
}

/** Clients see why a job failed, without the backend's addresses and paths. */
export function forClients({ message, ...status }: BackendJobStatus): BackendJobStatus {
  const shown = presentable(message ?? '', { sent: [], secrets: [], isField: () => false });
  return { ...status, ...(shown !== '' && { message: shown }) };
}

/** Whether a backend has certainly not accepted a job or a transaction. */
export function isRefusedWhole(error: unknown, { problem }: Refusal): boolean {
  if (error instanceof BackendError && error.status < 500) return error.status !== TIMED_OUT;
  return problem.code === 'MODEL_OFFLINE' || problem.code === 'MODEL_AT_CAPACITY';
}
