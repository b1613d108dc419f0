import { setTimeout as sleep } from 'node:timers/promises';
import { type Pause, StepLoop } from '@svc/runtime';
import type { Client } from 'pg';
import type { ConsumerSession } from './consumer-session.js';
import type { Consumer, ConsumerState, SendBatch } from '../delivery/event-strategy.js';
import type { EventsLogger } from '../delivery/logger.js';
import { type Subscription, deliver } from '../delivery/on-events.js';
import { tracedBatch } from '../delivery/batch-trace.js';
import { parseEvents } from '../delivery/parse-events.js';
import {
  claimConsumer,
  commitOffset,
  readEvents,
  readNewestId,
  readOffset,
} from './postgres-events.store.js';
import type { LoggedEvent } from '../delivery/parse-events.js';
import type { Positions } from '../delivery/lag-watch.js';
import { RecentEvents, type StoredBatch } from './recent-events.js';

const BACKOFF_MS_MIN = 100;
/** Readers of settled charges wait for this consumer, so it must recover soon after an outage. */
const BACKOFF_MS_MAX = 3_000;
const DRAIN_POLL_MS = 20;
/**
 * How long to gather events after a small batch: a batch costs its handler more than its events do. `drained`
 * ends the wait.
 */
const GATHER_MS = 500;
/**
 * The most events of a batch, doubled after each full one: a consumer that is behind takes large batches,
 * which cost less for each event, and one that keeps up takes small ones, behind which requests wait for less
 * time.
 */
const SMALL_BATCH = 250;
/** How often to ask for a group that another session has. */
const REFUSED_POLL_MS = 1_000;
/** Warn after waiting this long for another session to release the group. */
const REFUSED_MS = 30_000;

export interface TopicConsumerOptions {
  readonly subscription: Subscription;
  readonly session: ConsumerSession;
  /** For reads of the group's position: a separate connection, so that they never wait behind a batch. */
  readonly progress: ConsumerSession;
  /** Passes a batch to the handler. */
  readonly send: SendBatch;
  /** How long to wait for events stored by another process. */
  readonly pollMs: number;
  readonly batchMax: number;
  readonly logger: EventsLogger;
}

/** Reads one topic for one group, in order, and never skips an unhandled event. */
export class TopicConsumer implements Consumer {
  readonly topic: string;
  readonly group: string;
  private readonly options: TopicConsumerOptions;
  private readonly loop = new StepLoop({ step: () => this.step(), recover: (error) => this.recover(error) });
  /** The connection on which this consumer has its claim; a new connection has to claim again. */
  private claimedOn: Client | undefined;
  private claimedAtMs = Infinity;
  /** What this process has stored since the claim, in the database that the claim is in. */
  private readonly recent: RecentEvents;
  /** Since when another session has the group, and whether that was logged. */
  private refused: { readonly sinceMs: number; isLogged: boolean } | undefined;
  private lastId = 0n;
  private batchSize = SMALL_BATCH;
  private handled = 0;
  private dead = 0;
  private failures = 0;
  /** A caller waits for events that may be those of other processes. */
  private mustLook = false;
  private waitingSinceMs: number | undefined;
  private wakes = 0;

  constructor(options: TopicConsumerOptions) {
    this.options = options;
    this.topic = options.subscription.event.topic;
    this.group = options.subscription.group;
    this.recent = new RecentEvents(this.topic);
  }

  get state(): ConsumerState {
    const { group, topic } = this;
    return { group, topic, handled: this.handled, dead: this.dead, failures: this.failures };
  }

  get unhandledSinceMs(): number | undefined {
    return this.waitingSinceMs;
  }

  get signs(): number {
    return this.wakes + this.handled + this.dead + this.failures;
  }

  start(): void {
    this.loop.start();
  }

  /** Takes note of what this process has stored. */
  note(stored: StoredBatch): void {
    if (stored.beganAtMs >= this.claimedAtMs) this.recent.add(stored);
    if (!stored.topics.has(this.topic)) return;
    this.wakes += 1;
    if (this.recent.size < SMALL_BATCH) this.loop.wake();
    else this.loop.hurry();
  }

  /** Takes no further batch, and resolves when the current one is done. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  async positions(): Promise<Positions> {
    const { progress } = this.options;
    const end = await progress.use((client) => readNewestId(client, this.topic));
    const handled = await progress.use((client) => readOffset(client, this));
    return { ends: new Map([[0, end]]), handled: new Map([[0, handled]]) };
  }

  async drained(deadlineMs: number): Promise<void> {
    const deadline = Date.now() + deadlineMs;
    const { progress } = this.options;
    const target = await progress.use((client) => readNewestId(client, this.topic));
    this.mustLook = true;
    this.loop.hurry();
    while ((await progress.use((client) => readOffset(client, this))) < target) {
      if (Date.now() > deadline) {
        throw new Error(`${this.group} has not handled all of ${this.topic} within ${deadlineMs} ms`);
      }
      await sleep(DRAIN_POLL_MS);
    }
  }

  /** Handles the next batch. */
  private async step(): Promise<Pause> {
    const { session, batchMax, pollMs, send } = this.options;
    const max = Math.min(this.batchSize, batchMax);
    const known = this.recent.after(this.lastId, max);
    const rows = known.length > 0 ? known : await this.read(max);
    // Another consumer has the group's events, if this one may not read them.
    this.waitingSinceMs = rows[0]?.atMs;
    const lastId = rows.at(-1)?.id;
    if (lastId === undefined)
      return { idleMs: this.refused ? Math.min(pollMs, REFUSED_POLL_MS) : pollMs, gatherMs: GATHER_MS };
    const { events: batch, unreadable: dead } = parseEvents(rows, this.options.subscription.event);
    if (batch.length > 0)
      await tracedBatch({ system: 'postgresql', topic: this.topic, group: this.group }, rows, () =>
        deliver(batch, send),
      );
    await session.use((client) => {
      if (client !== this.claimedOn) throw new Error('the connection broke meanwhile');
      return commitOffset(client, this, { lastId, dead });
    });
    this.waitingSinceMs = undefined;
    this.lastId = lastId;
    this.recent.forget(lastId);
    this.handled += batch.length;
    this.dead += dead.length;
    this.failures = 0;
    if (dead.length > 0)
      this.options.logger.error(`${dead.length} unreadable events were moved to ${this.topic}.dead`);
    const isBehind = rows.length === max && (known.length === 0 || this.recent.size > 0);
    this.batchSize = isBehind ? 2 * max : SMALL_BATCH;
    if (isBehind) return { idleMs: 0 };
    // After a commit of this process there is nothing to look for, unless a caller waits for it.
    return { idleMs: known.length > 0 && !this.mustLook ? pollMs : 0, gatherMs: GATHER_MS };
  }

  /** Reads the next events from the table: those of other processes, and those before the claim. */
  private read(max: number): Promise<LoggedEvent[]> {
    return this.options.session.use(async (client) => {
      const claimed = await this.claim(client);
      this.mustLook = false;
      return claimed ? readEvents(client, { topic: this.topic, after: this.lastId, max }) : [];
    });
  }

  private async claim(client: Client): Promise<boolean> {
    if (this.claimedOn === client) return true;
    const offset = await claimConsumer(client, this);
    if (offset === undefined) {
      this.noteRefusal();
      return false;
    }
    this.refused = undefined;
    this.claimedOn = client;
    this.claimedAtMs = performance.now();
    this.recent.clear();
    this.lastId = offset;
    return true;
  }

  /** Another process may have the group, or a dead session that the server has not ended yet. */
  private noteRefusal(): void {
    const refused = (this.refused ??= { sinceMs: Date.now(), isLogged: false });
    if (refused.isLogged || Date.now() - refused.sinceMs < REFUSED_MS) return;
    refused.isLogged = true;
    this.options.logger.warn(
      `${this.group} has waited ${REFUSED_MS / 1_000} s for ${this.topic}, which another database session is reading`,
    );
  }

  /** Retries the same events, with growing delays. */
  private recover(error: unknown): number {
    const { logger } = this.options;
    this.failures += 1;
    // The next step reads from the table, or claims it again if the connection broke.
    this.recent.clear();
    const waitMs = Math.min(BACKOFF_MS_MIN * 2 ** (this.failures - 1), BACKOFF_MS_MAX);
    const reason = error instanceof Error ? error.message : String(error);
    logger.error(`${this.group} failed to handle ${this.topic} and retries in ${waitMs} ms: ${reason}`);
    return waitMs;
  }
}
