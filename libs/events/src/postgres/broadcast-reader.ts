import { type Pause, StepLoop } from '@svc/runtime';
import type { Client } from 'pg';
import type { ConsumerSession } from './consumer-session.js';
import type { EventsLogger } from '../delivery/logger.js';
import type { SendBroadcast } from '../delivery/event-strategy.js';
import type { BroadcastSubscription } from '../delivery/on-every-process.js';
import { deliver } from '../delivery/on-events.js';
import { parseEvents } from '../delivery/parse-events.js';
import { readEvents, readNewestId } from './postgres-events.store.js';

const BATCH_MAX = 500;
/** Listeners have to know soon, and for as long as it lasts, that events may be late. */
const RETRY_MS_MAX = 200;

export interface BroadcastReaderOptions {
  readonly subscription: BroadcastSubscription;
  readonly session: ConsumerSession;
  readonly send: SendBroadcast;
  /** How long to wait for events stored by another process. */
  readonly pollMs: number;
  readonly logger: EventsLogger;
}

/**
 * Reads one topic for this process alone, from the newest event on, and reports when events may have been
 * missed.
 */
export class BroadcastReader {
  readonly topic: string;
  private readonly options: BroadcastReaderOptions;
  private readonly loop = new StepLoop({ step: () => this.step(), recover: (error) => this.recover(error) });
  private lastId: bigint | undefined;
  /** The connection of the last step. The next one may lead to another server. */
  private readOn: Client | undefined;
  private missed = true;
  private failures = 0;

  constructor(options: BroadcastReaderOptions) {
    this.options = options;
    this.topic = options.subscription.broadcast.topic;
  }

  start(): void {
    this.loop.start();
  }

  /** Signals that there may be new events. */
  wake(): void {
    this.loop.wake();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Delivers new events. */
  private async step(): Promise<Pause> {
    const { session, send, subscription, pollMs, logger } = this.options;
    const { after, rows } = await session.use(async (client) => {
      const start = await this.startWith(client);
      return {
        after: start,
        rows: await readEvents(client, { topic: this.topic, after: start, max: BATCH_MAX }),
      };
    });
    const { events, unreadable } = parseEvents(rows, subscription.broadcast);
    if (unreadable.length > 0)
      logger.error(`${unreadable.length} events of ${this.topic} could not be decoded`);
    // The content of an unreadable event is unknown.
    const missed = this.missed || unreadable.length > 0;
    if (missed || events.length > 0) await deliver({ events, missed }, send);
    this.lastId = rows.at(-1)?.id ?? after;
    this.missed = false;
    this.failures = 0;
    return { idleMs: rows.length < BATCH_MAX ? pollMs : 0 };
  }

  /** Where to continue. A log restored from a backup may end before the last event read. */
  private async startWith(client: Client): Promise<bigint> {
    if (this.lastId !== undefined && client === this.readOn) return this.lastId;
    const newest = await readNewestId(client, this.topic);
    this.readOn = client;
    if (this.lastId !== undefined && this.lastId <= newest) return this.lastId;
    this.missed = true;
    return newest;
  }

  /** Reports at once that events may be late. */
  private async recover(error: unknown): Promise<number> {
    const { logger, pollMs, send } = this.options;
    this.missed = true;
    this.failures += 1;
    if (this.failures === 1) {
      logger.error(
        `Cannot read events from ${this.topic}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    // The next step repeats this, so a handler that fails here loses nothing.
    await deliver({ events: [], missed: true }, send).catch(() => undefined);
    return Math.min(pollMs, RETRY_MS_MAX);
  }
}
