import assert from 'node:assert/strict';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type JobDefinition, Jobs } from '@svc/contracts/messages';
import { RootLogger } from '@svc/runtime';
import type { JobWork } from './attempt.js';
import { type JobTimes, type JobWorker, JobWorkers } from './job-workers.js';
import { JobsSettings } from './jobs.config.js';
import { QueueWorker } from './queue-worker.js';

const START_AFTER_MS = 500;
/** How often schedules are verified, since Redis may have lost them. */
const SCHEDULE_AGAIN_MS = 10 * 60_000;

interface Registration extends JobWork {
  readonly times: JobTimes<unknown> | undefined;
}

/** Workers of BullMQ, one for each queue of which this process has jobs. */
@Injectable()
export class BullWorkers extends JobWorkers implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly registered: Registration[] = [];
  private workers: QueueWorker[] = [];
  private startTimer: NodeJS.Timeout | undefined;
  private scheduleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly settings: JobsSettings,
    private readonly jobs: Jobs,
    private readonly logger: RootLogger,
  ) {
    super();
  }

  override work<Payload>(
    job: JobDefinition<Payload>,
    worker: JobWorker<Payload>,
    times?: JobTimes<Payload>,
  ): void {
    assert(this.workers.length === 0, 'a worker is registered before the start');
    assert(!this.find(job.queue, job.name), 'a job has one worker');
    this.registered.push({ job, worker, times } as unknown as Registration);
  }

  onApplicationBootstrap(): void {
    const { startAfterMs = START_AFTER_MS } = this.settings;
    this.startTimer = setTimeout(() => this.start(), startAfterMs).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearTimeout(this.startTimer);
    clearInterval(this.scheduleTimer);
    await Promise.all(this.workers.map((worker) => worker.stop()));
  }

  private start(): void {
    const queues = Map.groupBy(this.registered, ({ job }) => job.queue);
    this.workers = Array.from(
      queues,
      ([queue, registered]) =>
        new QueueWorker({
          backend: this.settings.backend,
          queue,
          works: new Map(registered.map((work) => [work.job.name, work])),
          logger: this.logger.log,
          onOpen: () => this.addTimes(registered),
        }),
    );
    for (const worker of this.workers) worker.start();
    this.scheduleTimer = setInterval(() => void this.scheduleAgain(), SCHEDULE_AGAIN_MS).unref();
  }

  private async addTimes(registered: readonly Registration[]): Promise<void> {
    for (const { job, times } of registered) {
      if (!times) continue;
      await this.jobs.schedule(job, times.payload, times.cron);
      if (times.atStart) await this.jobs.add(job, times.payload);
    }
  }

  /** Never rejects: failures are retried the next time. */
  private async scheduleAgain(): Promise<void> {
    for (const { job, times } of this.registered) {
      if (!times) continue;
      try {
        await this.jobs.schedule(job, times.payload, times.cron);
      } catch (error) {
        this.logger.log.warn(
          { job: job.name, error: String(error) },
          'the schedule of a job could not be checked',
        );
      }
    }
  }

  private find(queue: string, name: string): Registration | undefined {
    return this.registered.find(({ job }) => job.queue === queue && job.name === name);
  }
}
