import type { JobDefinition } from '@svc/contracts/messages';

/** The context of a worker, in addition to the payload. */
export interface JobRun {
  /** Starts at 1. */
  readonly attempt: number;
  /** When the job was due: for a scheduled job, the scheduled time. */
  readonly dueAt: Date;
  /** Aborted at the job's deadline and when the process stops. A worker then has 2 s to throw. */
  readonly signal: AbortSignal;
}

/** Does a job. It may run more than once, so it must be idempotent; its own waits need deadlines. */
export type JobWorker<Payload> = (payload: Payload, run: JobRun) => Promise<void>;

/** When a job is added automatically. */
export interface JobTimes<Payload> {
  readonly payload: Payload;
  /** A cron pattern, in UTC. */
  readonly cron: string;
  /** Whether it also runs at each start of a process, to catch up after downtime. */
  readonly atStart?: boolean;
}

/** Registers methods as the workers of jobs. */
export abstract class JobWorkers {
  /** Must be called before the application has started, once for each job. */
  abstract work<Payload>(
    job: JobDefinition<Payload>,
    worker: JobWorker<Payload>,
    times?: JobTimes<Payload>,
  ): void;
}
