import { BackendError } from '@svc/backend-calls';
import type { BackendJobStatus } from '@svc/contracts/inference';
import { presentable } from '@svc/runtime';
import type { JobResponse } from '../dialect/dialect.js';

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
