import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { StepLoop, within } from '@svc/runtime';
import type { Database } from '@svc/storage';
import type { EventsLogger } from '../delivery/logger.js';
import type { GroupCommitLog } from '../publishing/group-commit-log.js';
import { emptyOutbox, onAdded } from './outbox.store.js';

/** Finds the events of processes that ended before publishing them. */
const POLL_MS = 1_000;
/** Another process is publishing, and may have missed what this one was woken for. */
const BUSY_MS = 50;
/** An event of this process is looked for at this interval, until its transaction is likely committed. */
const SOON_MS = 50;
const SOON_FOR_MS = 1_000;
const AGAIN_MS = 500;
const BATCH_MAX = 500;
const STOP_MS = 10_000;

export interface OutboxOptions {
  readonly database: Database;
  readonly log: GroupCommitLog;
  readonly logger: EventsLogger;
  /** How often to look for events that nobody signalled; default: 1 s. */
  readonly pollMs?: number | undefined;
}

/**
 * Publishes events added in a transaction to the log, at least once: after the commit, and never after a
 * rollback. Each process with an outbox does this for all processes.
 */
export class Outbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly options: OutboxOptions;
  private readonly loop = new StepLoop({ step: () => this.step(), recover: (error) => this.recover(error) });
  private failures = 0;
  private soonUntilMs = 0;
  private endAdded: () => void = () => undefined;

  constructor(options: OutboxOptions) {
    this.options = options;
  }

  /** Signals that there may be new events; without it the next poll finds them. */
  wake(): void {
    this.loop.wake();
  }

  onApplicationBootstrap(): void {
    this.loop.start();
    this.endAdded = onAdded(() => {
      this.soonUntilMs = performance.now() + SOON_FOR_MS;
      this.wake();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.endAdded();
    await within(STOP_MS, this.loop.stop()).catch(() => undefined);
  }

  private async step(): Promise<{ idleMs: number }> {
    const { database, log, pollMs = POLL_MS } = this.options;
    const published = await emptyOutbox(database, BATCH_MAX, async (events) => {
      await Promise.all(events.map((event) => log.append(event)));
    });
    this.failures = 0;
    if (published === undefined) return { idleMs: BUSY_MS };
    if (published === BATCH_MAX) return { idleMs: 0 };
    return { idleMs: performance.now() < this.soonUntilMs ? SOON_MS : pollMs };
  }

  private recover(error: unknown): number {
    this.failures += 1;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.failures === 1) this.options.logger.error(`Cannot publish events from the outbox: ${reason}`);
    return AGAIN_MS;
  }
}
