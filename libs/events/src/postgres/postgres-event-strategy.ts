import { within } from '@svc/runtime';
import { BroadcastReader } from './broadcast-reader.js';
import { ConsumerSession } from './consumer-session.js';
import {
  type Consumer,
  EventStrategy,
  type SendBatch,
  type SendBroadcast,
} from '../delivery/event-strategy.js';
import { type EventsLogger, silent } from '../delivery/logger.js';
import type { BroadcastSubscription } from '../delivery/on-every-process.js';
import type { Subscription } from '../delivery/on-events.js';
import type { PostgresEventLog } from './postgres-event-log.js';
import { TopicConsumer } from './topic-consumer.js';

export interface PostgresEventStrategyOptions {
  readonly url: string;
  /** Its commits wake the consumers of this process. */
  readonly log: PostgresEventLog;
  /** How often to poll for events of other processes; default: 1 s. */
  readonly pollMs?: number;
  /** The same for broadcasts, which should take effect soon; default: 200 ms. */
  readonly broadcastPollMs?: number;
  /** Maximum number of events per batch; default: 1,000. */
  readonly batchMax?: number;
  /** How long a stop waits for running batches; default: 10 s. */
  readonly stopMs?: number;
  readonly logger?: EventsLogger;
}

/** A broadcast change must take effect within a second. */
export const BROADCAST_POLL_MS = 200;
/** Timeouts of the broadcast connection are short, because missed events must be noticed soon. */
const BROADCAST_WAIT_MS = 800;

/** Delivers events from the PostgreSQL log to `@OnEvents` and `@OnEveryProcess` methods. */
export class PostgresEventStrategy extends EventStrategy {
  protected override readonly system = 'postgresql';
  private readonly options: Required<PostgresEventStrategyOptions>;
  private readonly session: ConsumerSession;
  /** Serves reads of the log's offsets, independently of the consumers. */
  private readonly progress: ConsumerSession;
  private readonly running: TopicConsumer[] = [];
  /** Separate from the consumers' connection, so that they never delay a broadcast. */
  private readonly broadcastSession: ConsumerSession;
  private readonly broadcasts: BroadcastReader[] = [];
  private unsubscribe: () => void = () => undefined;

  constructor(options: PostgresEventStrategyOptions) {
    super();
    this.options = {
      pollMs: 1_000,
      broadcastPollMs: BROADCAST_POLL_MS,
      batchMax: 1_000,
      stopMs: 10_000,
      logger: silent,
      ...options,
    };
    const { url } = this.options;
    this.session = new ConsumerSession({ url });
    this.progress = new ConsumerSession({ url, name: 'events (progress)' });
    this.broadcastSession = new ConsumerSession({
      url,
      name: 'events (broadcasts)',
      connectMs: BROADCAST_WAIT_MS,
      statementMs: BROADCAST_WAIT_MS,
    });
  }

  protected override receive(subscription: BroadcastSubscription, send: SendBroadcast): void {
    const { broadcastPollMs: pollMs, logger } = this.options;
    const session = this.broadcastSession;
    this.broadcasts.push(new BroadcastReader({ subscription, session, send, pollMs, logger }));
  }

  protected override consume(subscription: Subscription, send: SendBatch): Consumer {
    const { pollMs, batchMax, logger } = this.options;
    const consumer = new TopicConsumer({
      subscription,
      session: this.session,
      progress: this.progress,
      send,
      pollMs,
      batchMax,
      logger,
    });
    this.running.push(consumer);
    return consumer;
  }

  listen(callback: () => void): void {
    this.unsubscribe = this.options.log.subscribe((stored) => {
      for (const consumer of this.running) consumer.note(stored);
      for (const reader of this.broadcasts) if (stored.topics.has(reader.topic)) reader.wake();
    });
    for (const reader of [...this.running, ...this.broadcasts]) reader.start();
    this.watch();
    callback();
  }

  async close(): Promise<void> {
    this.endWatch();
    this.unsubscribe();
    const stopped = Promise.all([...this.running, ...this.broadcasts].map((reader) => reader.stop()));
    await within(this.options.stopMs, stopped).catch(() => undefined);
    await Promise.all([this.session.close(), this.progress.close(), this.broadcastSession.close()]);
  }
}
