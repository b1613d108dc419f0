import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, newId, retrying, within } from '@svc/runtime';
import { events, tracing } from '@svc/telemetry';
import type { Job } from 'bullmq';
import { type JobWork, attempt } from './attempt.js';
import { type AnyWorker, type JobsBackend, closePart, openWorker } from './backend.js';

const OPEN_DELAYS = { firstMs: 1_000, lastMs: 30_000 };
/** A failed worker rests for this long: some backend faults would make it retry at once. */
const REST_MS = 1_000;
/** A backend that is down fails constantly; log one line per this interval. */
const QUIET_MS = 30_000;
const STOP_MS = 3_000;

export interface QueueWorkerOptions {
  readonly backend: JobsBackend;
  readonly queue: string;
  readonly works: ReadonlyMap<string, JobWork>;
  readonly logger: Logger;
  /** Runs once the worker is open, and is retried until it succeeds. */
  readonly onOpen: () => Promise<void>;
}

/** Works on one queue until it is stopped, despite failures of its backend. */
export class QueueWorker {
  private readonly options: QueueWorkerOptions;
  private readonly stopping = new AbortController();
  private worker: AnyWorker | undefined;
  private opening: Promise<void> = Promise.resolve();
  private quietUntilMs = 0;

  constructor(options: QueueWorkerOptions) {
    this.options = options;
  }

  start(): void {
    // So that the first failure shows as an increase.
    for (const name of this.options.works.keys()) events.jobsFailed.with(name);
    // It retries until it is open or stopped, and never rejects.
    this.opening = this.open();
  }

  /** Gives running jobs a moment to end; other processes take over the rest. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the process stops'));
    if (this.worker) await closePart(this.worker, STOP_MS);
    // A worker that is still opening closes as soon as it is open.
    await within(STOP_MS, this.opening).catch(() => undefined);
  }

  private async open(): Promise<void> {
    const { signal } = this.stopping;
    const open = async (): Promise<void> => {
      if (!this.worker) await this.begin();
      if (!signal.aborted) await this.options.onOpen();
    };
    const onFailure = (error: unknown): void => this.warn(error, 'a job queue could not be opened');
    await retrying(open, { ...OPEN_DELAYS, signal, onFailure }).catch(() => undefined);
  }

  private async begin(): Promise<void> {
    const { backend, queue } = this.options;
    const worker = await openWorker(backend, queue, (job, token) => this.process(job, token));
    this.worker = worker;
    if (this.stopping.signal.aborted) await closePart(worker, STOP_MS);
    else this.run(worker);
  }

  private run(worker: AnyWorker): void {
    const { queue, logger } = this.options;
    worker.on('error', (error) => {
      this.warn(error, 'a job worker reported an error');
      this.rest(worker).catch(() => undefined);
    });
    worker.on('stalled', (id) =>
      logger.warn({ queue, id }, 'a job was abandoned by its worker and is run again'),
    );
    worker.on('failed', (job, error) => {
      const attempts = { attempt: job?.attemptsMade, attempts: job?.opts.attempts };
      const fields = { queue, job: job?.name, id: job?.id, ...attempts, error: String(error) };
      if (job?.finishedOn === undefined) logger.warn(fields, 'a job failed and will be retried');
      else {
        events.jobsFailed.add(1, job.name);
        logger.error(fields, 'a job failed permanently');
      }
    });
    worker.run().catch((error: unknown) => this.warn(error, 'a job worker has stopped'));
  }

  private async rest(worker: AnyWorker): Promise<void> {
    if (worker.isPaused() || this.stopping.signal.aborted) return;
    await worker.pause(true);
    await sleep(REST_MS, undefined, { signal: this.stopping.signal, ref: false });
    await worker.resume();
  }

  private async process(job: Job<unknown, void>, token: string | undefined): Promise<void> {
    const work = this.options.works.get(job.name);
    if (!work) throw new Error(`nobody here works on ${job.name}`);
    const stopping = this.stopping.signal;
    const startMs = performance.now();
    let outcome = 'done';
    try {
      const run = { attempt: job.attemptsMade + 1, dueAt: dueAt(job), stopping };
      await tracedJob(job, this.options.queue, () => attempt(work, job.data, run));
    } catch (error) {
      outcome = stopping.aborted ? 'left' : 'failed';
      if (!stopping.aborted) throw error;
      // The next process has the same number of attempts left.
      await job.moveToWait(token);
      throw Object.assign(new Error('the process stops'), { name: 'WaitingError' });
    } finally {
      events.jobDuration.record((performance.now() - startMs) / 1_000, job.name, outcome);
    }
  }

  private warn(error: unknown, message: string): void {
    const now = performance.now();
    if (now < this.quietUntilMs || this.stopping.signal.aborted) return;
    this.quietUntilMs = now + QUIET_MS;
    this.options.logger.warn({ queue: this.options.queue, error: String(error) }, message);
  }
}

function dueAt({ opts, timestamp }: Job<unknown, void>): Date {
  return new Date(opts.prevMillis ?? timestamp + (opts.delay ?? 0));
}

/** Does a job as part of the trace that added it, or as its own trace. */
function tracedJob(job: Job<unknown, void>, queue: string, work: () => Promise<void>): Promise<void> {
  const name = `process ${queue}`;
  const traceparent = job.opts.telemetry?.metadata;
  const trace = tracing.forMessage({ name, id: newId(), startMs: performance.now(), traceparent });
  if (trace.isRecorded)
    trace.root.set({
      'messaging.system': 'bullmq',
      'messaging.operation.type': 'process',
      'messaging.destination.name': queue,
      'svc.job': job.name,
      'svc.attempt': job.attemptsMade + 1,
    });
  return tracing.run(trace, work);
}
