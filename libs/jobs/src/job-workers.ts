import type { JobDefinition } from '@svc/contracts';

/** What a worker is told beside its payload. */
export interface JobRun {
  /** The first one is 1. */
  readonly attempt: number;
  /** When the job was to be begun: for one of a schedule, its time there. */
  readonly dueAt: Date;
  /** Aborted at the job's deadline and when the process stops. A worker then has 2 s to throw. */
  readonly signal: AbortSignal;
}

/** Does a job. It may be done more than once, so it has to be idempotent; its own waits need deadlines. */
export type JobWorker<Payload> = (payload: Payload, run: JobRun) => Promise<void>;

/** When a job is added by itself. */
export interface JobTimes<Payload> {
  readonly payload: Payload;
  /** A cron pattern, in UTC. */
  readonly cron: string;
  /** Whether it is done once more at each start of a process: to catch up after downtime. */
  readonly atStart?: boolean;
}

/** Makes methods the workers of jobs. */
export abstract class JobWorkers {
  /** To be called before the application has started, once for each job. */
  abstract work<Payload>(
    job: JobDefinition<Payload>,
    worker: JobWorker<Payload>,
    times?: JobTimes<Payload>,
  ): void;
}
