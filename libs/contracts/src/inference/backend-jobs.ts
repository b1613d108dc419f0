import { z } from 'zod';
import type { MediaOrder } from '../ports/media-jobs.js';
import type { CallOrigin, Served, ServedBy } from './calls.js';
import type { ChunkStream } from './inference-router.js';

/** The backend's id of a job. */
export const BackendJob = z.object({ job: z.string().min(1).max(500) });
export type BackendJob = z.infer<typeof BackendJob>;

/** How a job is at its backend. */
export const BackendJobStatus = z.object({
  /** `unknown`: the backend has no such job, for example since it was restarted. */
  state: z.enum(['running', 'completed', 'failed', 'unknown']),
  /** Why it failed, in the backend's words. */
  message: z.string().optional(),
  /** Whether it failed because the content of the request is not allowed. */
  isRefused: z.boolean().optional(),
});
export type BackendJobStatus = z.infer<typeof BackendJobStatus>;

export interface JobOrderCall extends CallOrigin {
  readonly order: MediaOrder;
}

export interface JobCall extends CallOrigin, BackendJob {
  /** The name of the backend that has the job, which is the only one that is called. */
  readonly backend: string;
}

/** Jobs of backends that make videos and music. Rejects as `Chat` does. */
export abstract class BackendJobs {
  /**
   * Another backend is called only if the previous one certainly has not accepted the job: after
   * INFERENCE_FAILED or REQUEST_TIMEOUT, a backend may have it.
   */
  abstract submit(call: JobOrderCall, signal: AbortSignal): Promise<Served<BackendJob>>;

  abstract status(call: JobCall, signal: AbortSignal): Promise<Served<BackendJobStatus>>;

  /** Resolves when the backend has begun to send what a completed job has made. */
  abstract content(call: JobCall, signal: AbortSignal): Promise<ChunkStream>;

  /** Ends a job, or deletes what it has made. A job that is not there is no error. */
  abstract cancel(call: JobCall, signal: AbortSignal): Promise<ServedBy>;
}
