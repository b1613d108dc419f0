import { within } from '@svc/runtime';
import { type Consumer, EventStrategy, type SendBatch, type SendNews } from '../delivery/event-strategy.js';
import { type EventsLogger, silent } from '../delivery/logger.js';
import type { BroadcastSubscription } from '../delivery/on-every-process.js';
import type { Subscription } from '../delivery/on-events.js';
import { BroadcastListener } from './broadcast-listener.js';
import { GroupConsumer } from './group-consumer.js';
import { type KafkaConnection, kafkaClient } from './kafka-client.js';
import type { KafkaEventLog } from './kafka-event-log.js';
import { TopicProgress } from './topic-progress.js';

export interface KafkaEventStrategyOptions extends KafkaConnection {
  /** Takes what can't be read. */
  readonly log: KafkaEventLog;
  /** Events at most that a handler gets at once; default: 1,000. */
  readonly batchMax?: number;
  /** A process that is silent for so long has left its groups; default: 6 s, the least that brokers take by default. */
  readonly sessionMs?: number;
  /** How long a stop waits for the batches in hand; default: 10 s. */
  readonly stopMs?: number;
  readonly logger?: EventsLogger;
}

const REQUEST_MS = 2_000;
const STOP_MS = 10_000;

/** Brings the events of Kafka to `@OnEvents` and `@OnEveryProcess` methods. */
export class KafkaEventStrategy extends EventStrategy {
  readonly #options: KafkaEventStrategyOptions;
  readonly #progress: TopicProgress;
  readonly #consumers: GroupConsumer[] = [];
  readonly #broadcasts: BroadcastListener[] = [];

  constructor(options: KafkaEventStrategyOptions) {
    super();
    this.#options = options;
    this.#progress = new TopicProgress(options);
  }

  override listen(callback: () => void): void {
    // Nobody waits until the groups are joined: that may take seconds, and while Kafka is away for ever.
    for (const reader of [...this.#consumers, ...this.#broadcasts]) reader.start();
    this.watch();
    callback();
  }

  override async close(): Promise<void> {
    this.endWatch();
    const { stopMs = STOP_MS } = this.#options;
    const stopped = Promise.all([...this.#consumers, ...this.#broadcasts].map((reader) => reader.stop()));
    await within(stopMs, stopped).catch(() => undefined);
    await this.#progress.close();
  }

  protected override consume(subscription: Subscription, send: SendBatch): Consumer {
    const { log, batchMax = 1_000, sessionMs = 6_000, stopMs = STOP_MS, logger = silent } = this.#options;
    const consumer = new GroupConsumer({
      subscription,
      // One of its own for each, since they remember offsets together.
      kafka: kafkaClient(this.#options, {
        requestTimeoutMs: REQUEST_MS,
        retry: { retries: 1_000, initialRetryTime: 100, maxRetryTime: 500 },
      }),
      log,
      progress: this.#progress,
      send,
      batchMax,
      sessionMs,
      stopMs,
      logger,
    });
    this.#consumers.push(consumer);
    return consumer;
  }

  protected override hear(subscription: BroadcastSubscription, send: SendNews): void {
    const { logger = silent, ...connection } = this.#options;
    this.#broadcasts.push(new BroadcastListener({ subscription, connection, send, logger }));
  }
}
