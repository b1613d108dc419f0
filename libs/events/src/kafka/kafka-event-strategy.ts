import { within } from '@svc/runtime';
import {
  type Consumer,
  EventStrategy,
  type SendBatch,
  type SendBroadcast,
} from '../delivery/event-strategy.js';
import { type EventsLogger, silent } from '../delivery/logger.js';
import type { BroadcastSubscription } from '../delivery/on-every-process.js';
import type { Subscription } from '../delivery/on-events.js';
import { BroadcastListener } from './broadcast-listener.js';
import { GroupConsumer } from './group-consumer.js';
import { type KafkaConnection, kafkaClient } from './kafka-client.js';
import type { KafkaEventLog } from './kafka-event-log.js';
import { TopicProgress } from './topic-progress.js';

export interface KafkaEventStrategyOptions extends KafkaConnection {
  /** Stores unreadable events. */
  readonly log: KafkaEventLog;
  /** Maximum number of events per batch; default: 1,000. */
  readonly batchMax?: number;
  /**
   * A process without heartbeats for this long leaves its groups; default: 6 s, the minimum that brokers
   * accept by default.
   */
  readonly sessionMs?: number;
  /** How long a stop waits for running batches; default: 10 s. */
  readonly stopMs?: number;
  readonly logger?: EventsLogger;
}

const REQUEST_MS = 2_000;
const STOP_MS = 10_000;

/** Delivers events from Kafka to `@OnEvents` and `@OnEveryProcess` methods. */
export class KafkaEventStrategy extends EventStrategy {
  protected override readonly system = 'kafka';
  private readonly options: KafkaEventStrategyOptions;
  private readonly progress: TopicProgress;
  private readonly running: GroupConsumer[] = [];
  private readonly broadcasts: BroadcastListener[] = [];

  constructor(options: KafkaEventStrategyOptions) {
    super();
    this.options = options;
    this.progress = new TopicProgress(options);
  }

  override listen(callback: () => void): void {
    // Does not wait for the groups to be joined: that may take seconds, and forever while Kafka is down.
    for (const reader of [...this.running, ...this.broadcasts]) reader.start();
    this.watch();
    callback();
  }

  override async close(): Promise<void> {
    this.endWatch();
    const { stopMs = STOP_MS } = this.options;
    const stopped = Promise.all([...this.running, ...this.broadcasts].map((reader) => reader.stop()));
    await within(stopMs, stopped).catch(() => undefined);
    await this.progress.close();
  }

  protected override consume(subscription: Subscription, send: SendBatch): Consumer {
    const { log, batchMax = 1_000, sessionMs = 6_000, stopMs = STOP_MS, logger = silent } = this.options;
    const consumer = new GroupConsumer({
      subscription,
      // A separate client for each, since consumers of one client share their offsets.
      kafka: kafkaClient(this.options, {
        requestTimeoutMs: REQUEST_MS,
        retry: { retries: 1_000, initialRetryTime: 100, maxRetryTime: 500 },
      }),
      log,
      progress: this.progress,
      send,
      batchMax,
      sessionMs,
      stopMs,
      logger,
    });
    this.running.push(consumer);
    return consumer;
  }

  protected override receive(subscription: BroadcastSubscription, send: SendBroadcast): void {
    const { logger = silent, ...connection } = this.options;
    this.broadcasts.push(new BroadcastListener({ subscription, connection, send, logger }));
  }
}
