import type { JobDefinition } from '@svc/contracts';
import { z } from 'zod';
import type { JobRun, JobWorker } from './job-workers.js';

/** A job that no further try can help. */
class PayloadRefused extends Error {
  // The name by which BullMQ knows that there is no use in another try.
  override readonly name = 'UnrecoverableError';
}

/** What is registered for a job. */
export interface Work {
  readonly job: JobDefinition;
  readonly worker: JobWorker<unknown>;
}

/** A worker that was told to end may take so long for it. */
const GRACE_MS = 2_000;

/**
 * Tries a job once. Rejects when its payload has not the agreed shape, when the worker rejects, and when it goes on
 * after its deadline or after `stopping` was aborted.
 */
export async function attempt(
  { job, worker }: Work,
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
    // A worker that heeds its signal says only that it was aborted.
    if (deadline.signal.aborted) throw new Error(tooLong, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The end of the work, which has a moment for it once the signal is aborted. */
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
