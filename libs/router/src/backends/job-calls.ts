import { BackendJob, type BackendJobStatus, MediaOrder } from '@svc/contracts/ports';
import type { CallKind, JobCallKind } from '@svc/contracts/inference';
import { presentable } from '@svc/runtime';
import { BackendError } from '../dialects/backend-error.js';
import type { JobRequest, JobResponse } from '../dialects/dialect.js';
import type { LiveBackend } from './backend-pool.js';
import type { Refusal } from './backend-refusal.js';
import { type Passing, readCallBody } from './call-body.js';

/** The backend has given up, maybe after it had accepted the call. */
const TIMED_OUT = 408;

export const isJobCall = (kind: CallKind): kind is JobCallKind => kind.startsWith('job-');

/** The HTTP request of a call about a job, by backend. Throws INVALID_REQUEST if its body is faulty. */
export function requestOf(
  kind: JobCallKind,
  body: readonly Uint8Array[],
  pass: Passing,
): (live: LiveBackend) => JobRequest {
  if (kind === 'job-submit') {
    const order = readCallBody(MediaOrder, body);
    return (live) =>
      live.dialect.submitJob(live.backend.model, { ...order, others: pass(order.others, live) });
  }
  const job = readCallBody(BackendJob, body);
  return ({ dialect }) => dialect.aboutJob(kind, job);
}

/** The result of a call about a job. */
export function readJob(kind: JobCallKind, response: JobResponse, { dialect }: LiveBackend): object {
  if (kind === 'job-submit') return dialect.readSubmitted(response);
  if (kind === 'job-status') return forClients(dialect.readJobStatus(response));
  const { status, body } = response;
  // A job that is not there, or has ended, needs no end.
  if ((status >= 200 && status < 300) || status === 404 || status === 409) return {};
  throw new BackendError(status, body);
}

/** Clients see why a job failed, without the backend's addresses and paths. */
function forClients({ message, ...status }: BackendJobStatus): BackendJobStatus {
  const shown = presentable(message ?? '', { sent: [], secrets: [], isField: () => false });
  return { ...status, ...(shown !== '' && { message: shown }) };
}

/** Whether a backend has certainly not accepted a job or a transaction. */
export function isRefusedWhole(error: unknown, { problem }: Refusal): boolean {
  if (error instanceof BackendError && error.status < 500) return error.status !== TIMED_OUT;
  return problem.code === 'MODEL_OFFLINE' || problem.code === 'MODEL_AT_CAPACITY';
}
