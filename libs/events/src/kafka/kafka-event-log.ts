import { retrying } from '@svc/runtime';
import type { Message, TopicMessages } from 'kafkajs';
import { type EventsLogger, silent } from '../delivery/logger.js';
import {
  GroupCommitLog,
  type GroupCommitOptions,
  type PublishBatch,
} from '../publishing/group-commit-log.js';
import { type KafkaConnection, brokerFault } from './kafka-client.js';
import { ReconnectingProducer } from './reconnecting-producer.js';

export interface KafkaEventLogOptions extends KafkaConnection, GroupCommitOptions {
  readonly logger?: EventsLogger;
}

/** Brokers accept batches of 1 MiB by default, and a character may take three bytes. */
const CHARS_MAX = 256 * 1024;
/**
 * Compared with 1 ms this halves the number and cost of sends, and adds hardly more delay than a send takes.
 */
const BOUNDS = { commitEveryMs: 3, batchCharsMax: CHARS_MAX, eventCharsMax: CHARS_MAX };
const DELAYS = { firstMs: 20, lastMs: 250 };
/** Errors that a retry would not change. */
const FINAL = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TOPIC_EXCEPTION',
]);

/**
 * The event log on Kafka. One send is under way at a time, which keeps the order of each key, and it is
 * retried until its events' deadline. So an event may be stored more than once.
 */
export class KafkaEventLog extends GroupCommitLog {
  private readonly producer: ReconnectingProducer;
  private readonly logger: EventsLogger;
  protected override readonly system = 'kafka';
  private failures = 0;

  constructor({ logger = silent, publishMs, maxPending, ...connection }: KafkaEventLogOptions) {
    super(
      { ...(publishMs !== undefined && { publishMs }), ...(maxPending !== undefined && { maxPending }) },
      BOUNDS,
    );
    this.producer = new ReconnectingProducer(connection);
    this.logger = logger;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.drain();
    await this.producer.close();
  }

  protected override async store(batch: PublishBatch): Promise<void> {
    const messages = messagesOf(batch);
    await retrying(() => this.producer.send(messages), {
      ...DELAYS,
      isFinal: (error) => batch.isSettled || FINAL.has(brokerFault(error) ?? ''),
      onFailure: (error) => this.failed(error),
    });
    this.succeeded();
  }

  private succeeded(): void {
    if (this.failures > 0) this.logger.warn(`Events are stored again, after ${this.failures} failures`);
    this.failures = 0;
  }

  private failed(error: unknown): void {
    this.failures += 1;
    this.noteFailure();
    if (this.failures === 1) this.logger.error(`Cannot store events: ${messageOf(error)}`);
  }
}

function messagesOf({ events }: PublishBatch): TopicMessages[] {
  const byTopic = new Map<string, Message[]>();
  for (const { topic, key, payload, traceparent } of events) {
    const messages = byTopic.get(topic) ?? [];
    if (messages.length === 0) byTopic.set(topic, messages);
    messages.push({ key, value: payload, ...(traceparent && { headers: { traceparent } }) });
  }
  return [...byTopic].map(([topic, messages]) => ({ topic, messages }));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
