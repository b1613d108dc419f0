import type { JobDefinition } from '@svc/contracts/messages';
import { z } from 'zod';
import type { JobRun, JobWorker } from './job-workers.js';

/** A failed job that no retry can help. */
class PayloadRefused extends Error {
  // BullMQ recognizes this name and does not retry.
  override readonly name = 'UnrecoverableError';
}

/** A registered job and its worker. */
export interface JobWork {
  readonly job: JobDefinition;
  readonly worker: JobWorker<unknown>;
}

/** How long an aborted worker may take to end. */
const GRACE_MS = 2_000;

/**
 * Runs a job once. Rejects if its payload is invalid, if the worker rejects, or if it continues after its
 * deadline or after `stopping` was aborted.
 */
export async function attempt(
  { job, worker }: JobWork,
  data: unknown,
  { stopping, ...run }: Omit<JobRun, 'signal'> & { stopping: AbortSignal },
): Promise<void> {
  const parsed = job.payload.safeParse(data);
  if (!parsed.success)
    throw new PayloadRefused(`the payload of ${job.name} is faulty: ${z.prettifyError(parsed.error)}`);
  const deadline = new AbortController();
  const tooLong = `${job.name} took longer than ${job.deadlineMs} ms`;
  const timer = setTimeout(() => deadline.abort(new Error(tooLong)), job.deadlineMs);
  const signal = AbortSignal.any([deadline.signal, stopping]);
  try {
    await endedAfter(signal, worker(parsed.data, { ...run, signal }));
  } catch (error) {
    // A worker that heeds its signal only reports that it was aborted.
    if (deadline.signal.aborted) throw new Error(tooLong, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves with the work, which gets a grace period once the signal is aborted. */
async function endedAfter(signal: AbortSignal, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const expire = (): void => {
    timer = setTimeout(() => late.reject(signal.reason as Error), GRACE_MS);
  };
  if (signal.aborted) expire();
  else signal.addEventListener('abort', expire, { once: true });
  try {
    await Promise.race([work, late.promise]);
  } finally {
    signal.removeEventListener('abort', expire);
    clearTimeout(timer);
  }
}
