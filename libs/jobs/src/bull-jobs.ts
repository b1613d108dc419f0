import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type JobDefinition, type JobOptions, Jobs } from '@svc/contracts/messages';
import { within } from '@svc/runtime';
import { SPAN_KIND, type Step, events, traced } from '@svc/telemetry';
import { type AnyQueue, closePart, openQueue } from './backend.js';
import { JobsSettings } from './jobs.config.js';

/** A job could not be stored. After a timeout it may have been stored anyway. */
export class JobNotStored extends Error {
  override readonly name = 'JobNotStored';
}

const STORE_MS = 5_000;
const CLOSE_MS = 1_000;
/** How often the jobs of the used queues are counted. */
const COUNT_EVERY_MS = 60_000;
const DAY_S = 86_400;
/** Finished jobs are kept for inspection, and so that an id is not reused: up to this number and age. */
const KEEP_DONE = { age: DAY_S, count: 1_000 };
const KEEP_FAILED = { age: 7 * DAY_S, count: 1_000 };
/** A scheduled time that no worker has taken up for this long belongs to a broken chain. */
const OVERDUE_MS = 3_600_000;
/**
 * A new schedule begins at the next multiple of this that is at least as far away. Processes that start
 * together all create it: BullMQ replaces the job of a future time, but would repeat one that has been run.
 */
const FIRST_AFTER_MS = STORE_MS;

type JobHandling = Omit<JobDefinition, 'payload'>;

/** Jobs in BullMQ. */
@Injectable()
export class BullJobs extends Jobs implements OnApplicationShutdown {
  private readonly queues = new Map<string, Promise<AnyQueue>>();
  private closed = false;
  private readonly counts = new Map<string, Readonly<Record<string, number>>>();
  private isCounting = false;
  private readonly countTimer = setInterval(() => void this.count(), COUNT_EVERY_MS).unref();
  private readonly endWatch = events.jobs.observe(() =>
    [...this.counts].flatMap(([queue, states]) =>
      Object.entries(states).map(([state, jobs]): [number, string, string] => [jobs, queue, state]),
    ),
  );

  constructor(private readonly settings: JobsSettings) {
    super();
  }

  override async add<Payload>(
    job: JobDefinition<Payload>,
    payload: Payload,
    { id }: JobOptions = {},
  ): Promise<void> {
    // BullMQ rejects ids that contain colons or are numbers.
    const jobId = id === undefined ? {} : { jobId: `${job.name}-${encodeURIComponent(id)}` };
    const data = job.payload.parse(payload);
    await traced(`send ${job.queue}`, (step) => {
      const options = { ...optionsOf(job), ...jobId, ...sentBy(step, job.queue) };
      return this.store(job, (queue) => queue.add(job.name, data, options));
    });
  }

  override async schedule<Payload>(
    job: JobDefinition<Payload>,
    payload: Payload,
    cron: string,
  ): Promise<void> {
    const data = job.payload.parse(payload);
    await this.store(job, async (queue) => {
      const known = await queue.getJobScheduler(job.name);
      const isSame =
        known?.pattern === cron && JSON.stringify(known.template?.data ?? {}) === JSON.stringify(data);
      if (isSame && (known.next ?? 0) > Date.now() - OVERDUE_MS) return;
      const template = { name: job.name, data, opts: optionsOf(job) };
      const startDate = Math.ceil(Date.now() / FIRST_AFTER_MS + 1) * FIRST_AFTER_MS;
      await queue.upsertJobScheduler(job.name, { pattern: cron, tz: 'UTC', startDate }, template);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    clearInterval(this.countTimer);
    this.endWatch();
    const closing = Array.from(this.queues.values(), async (opening) => closePart(await opening, CLOSE_MS));
    await within(2 * CLOSE_MS, Promise.all(closing)).catch(() => undefined);
  }

  /** Never rejects: what can't be counted is not reported. */
  private async count(): Promise<void> {
    if (this.isCounting) return;
    this.isCounting = true;
    for (const [name, opening] of this.queues) {
      try {
        const counting = opening.then((queue) =>
          queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
        );
        this.counts.set(name, await within(STORE_MS, counting));
      } catch {
        this.counts.delete(name);
      }
    }
    this.isCounting = false;
  }

  private async store(job: JobHandling, work: (queue: AnyQueue) => Promise<unknown>): Promise<void> {
    try {
      if (this.closed) throw new Error('the process stops');
      await within(STORE_MS, this.queue(job.queue).then(work));
    } catch (error) {
      throw new JobNotStored(`${job.name} was not stored: ${String(error)}`, { cause: error });
    }
  }

  private queue(name: string): Promise<AnyQueue> {
    const known = this.queues.get(name);
    if (known) return known;
    const opening = openQueue(this.settings.backend, name);
    this.queues.set(name, opening);
    opening.catch(() => this.queues.delete(name));
    return opening;
  }
}

function optionsOf(job: JobHandling) {
  return {
    attempts: job.attempts,
    backoff: { type: 'exponential', delay: job.backoffMs },
    removeOnComplete: KEEP_DONE,
    removeOnFail: KEEP_FAILED,
    stackTraceLimit: 1,
  };
}

/** Makes the work on a job part of the trace that added it, if that is recorded. */
function sentBy(step: Step | undefined, queue: string): { telemetry?: { metadata: string } } {
  if (!step) return {};
  step.kind = SPAN_KIND.producer;
  step.set({
    'messaging.system': 'bullmq',
    'messaging.operation.type': 'send',
    'messaging.destination.name': queue,
  });
  return step.isSampled ? { telemetry: { metadata: step.traceparent } } : {};
}
