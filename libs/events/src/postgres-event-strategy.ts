import type { Server } from '@nestjs/microservices';
import { within } from '@svc/runtime';
import { isObservable, lastValueFrom } from 'rxjs';
import { BroadcastReader } from './broadcast-reader.js';
import { ConsumerSession } from './consumer-session.js';
import { type ConsumerState, EventStrategy } from './event-strategy.js';
import { type EventsLogger, silent } from './logger.js';
import type { BroadcastSubscription } from './on-every-process.js';
import type { Subscription } from './on-events.js';
import type { PostgresEventLog } from './postgres-event-log.js';
import { Retention } from './retention.js';
import { TopicConsumer } from './topic-consumer.js';

export interface PostgresEventStrategyOptions {
  readonly url: string;
  /** Its commits wake the consumers of this process. */
  readonly log: PostgresEventLog;
  /** How often to look for events of other processes; default: 1 s. */
  readonly pollMs?: number;
  /** The same for events that every process hears of, which are to take effect soon; default: 200 ms. */
  readonly broadcastPollMs?: number;
  /** Events at most that a handler gets at once; default: 1,000. */
  readonly batchMax?: number;
  /** How long handled events are kept; default: 7 days. */
  readonly retentionDays?: number;
  /** How long a stop waits for the batches in hand; default: 10 s. */
  readonly stopMs?: number;
  readonly logger?: EventsLogger;
}

/** A change that every process hears of takes effect within a second. */
export const BROADCAST_POLL_MS = 200;
/** Waits of the connection for broadcasts are short, since missing them has to be noticed soon. */
const BROADCAST_WAIT_MS = 800;

/** Brings the events of the PostgreSQL log to `@OnEvents` and `@OnEveryProcess` methods. */
export class PostgresEventStrategy extends EventStrategy {
  readonly #options: Required<PostgresEventStrategyOptions>;
  readonly #session: ConsumerSession;
  /** Readers of the books ask here for the log's offsets, whatever the consumers do meanwhile. */
  readonly #progress: ConsumerSession;
  readonly #retention: Retention;
  readonly #consumers: TopicConsumer[] = [];
  /** Apart from the consumers' connection, so that nothing of theirs holds a broadcast up. */
  readonly #broadcastSession: ConsumerSession;
  readonly #broadcasts: BroadcastReader[] = [];
  #unsubscribe: () => void = () => undefined;

  constructor(options: PostgresEventStrategyOptions) {
    super();
    this.#options = {
      pollMs: 1_000,
      broadcastPollMs: BROADCAST_POLL_MS,
      batchMax: 1_000,
      retentionDays: 7,
      stopMs: 10_000,
      logger: silent,
      ...options,
    };
    const { url, retentionDays: days, logger } = this.#options;
    this.#session = new ConsumerSession({ url });
    this.#progress = new ConsumerSession({ url, name: 'events (progress)' });
    this.#broadcastSession = new ConsumerSession({
      url,
      name: 'events (broadcasts)',
      connectMs: BROADCAST_WAIT_MS,
      statementMs: BROADCAST_WAIT_MS,
    });
    this.#retention = new Retention({ session: this.#session, days, logger });
  }

  override addHandler(...[pattern, handler, isEventHandler, extras]: Parameters<Server['addHandler']>): void {
    const { group, event, broadcast } = (extras ?? {}) as Partial<Subscription & BroadcastSubscription>;
    const send = async (told: unknown): Promise<unknown> => {
      const result: unknown = await handler(told);
      return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
    };
    const { pollMs, broadcastPollMs, batchMax, logger } = this.#options;
    if (isEventHandler && broadcast) {
      const session = this.#broadcastSession;
      const subscription = { broadcast };
      this.#broadcasts.push(
        new BroadcastReader({ subscription, session, send, pollMs: broadcastPollMs, logger }),
      );
      return;
    }
    if (!isEventHandler || group === undefined || event === undefined) {
      throw new TypeError(
        `The handler of ${JSON.stringify(pattern)} has to be declared with @OnEvents or @OnEveryProcess`,
      );
    }
    if (this.#find(event.topic, group)) {
      throw new TypeError(`Two handlers of ${group} take ${event.topic}; each event is for one of them only`);
    }
    this.#consumers.push(
      new TopicConsumer({
        subscription: { group, event },
        session: this.#session,
        progress: this.#progress,
        send,
        pollMs,
        batchMax,
        logger,
      }),
    );
  }

  listen(callback: () => void): void {
    this.#unsubscribe = this.#options.log.onStored((topics) => {
      for (const reader of [...this.#consumers, ...this.#broadcasts]) {
        if (topics.has(reader.topic)) reader.wake();
      }
    });
    for (const reader of [...this.#consumers, ...this.#broadcasts]) reader.start();
    this.#retention.start();
    callback();
  }

  /** Lets every handler finish the batch in hand, up to a deadline. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#retention.stop();
    const stopped = Promise.all([...this.#consumers, ...this.#broadcasts].map((reader) => reader.stop()));
    await within(this.#options.stopMs, stopped).catch(() => undefined);
    await Promise.all([this.#session.close(), this.#progress.close(), this.#broadcastSession.close()]);
  }

  async drained(topic: string, group: string, deadlineMs = 30_000): Promise<void> {
    const consumer = this.#find(topic, group);
    if (!consumer) throw new TypeError(`No handler of ${group} takes ${topic}`);
    await consumer.drained(deadlineMs);
  }

  consumers(): readonly ConsumerState[] {
    return this.#consumers.map(({ state }) => state);
  }

  on(): void {
    throw new TypeError('This strategy emits no events of its own');
  }

  unwrap<Target>(): Target {
    throw new TypeError('This strategy has no server beneath it');
  }

  #find(topic: string, group: string): TopicConsumer | undefined {
    return this.#consumers.find((consumer) => consumer.topic === topic && consumer.group === group);
  }
}
