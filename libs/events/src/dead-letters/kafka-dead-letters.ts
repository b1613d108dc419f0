import { retrying } from '@svc/runtime';
import { eventOf } from '../kafka/fetched-batches.js';
import { type KafkaConnection, brokerFault, kafkaClient } from '../kafka/kafka-client.js';
import { KafkaEventLog } from '../kafka/kafka-event-log.js';
import { PartitionReader } from '../kafka/partition-reader.js';
import { type LoggedEvent, deadTopic } from '../delivery/parse-events.js';
import {
  BATCH,
  type DeadEvents,
  type DeadLetters,
  type ReplayableEvent,
  type Replayed,
  divide,
} from './dead-letters.js';

/** Consumer group whose offsets mark the dead events already published again. */
const GROUP = 'dead-letters';
const REQUEST_MS = 10_000;
/** A group's coordinator first loads its offsets, which takes seconds after a broker starts. */
const COORDINATOR_MS = 30_000;
const COORDINATOR_RETRY_MS = 200;
const NO_COORDINATOR = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);
const RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 1_000 };

interface Walked {
  readonly events: readonly LoggedEvent[];
  /** Where the next walk starts, by partition. */
  readonly ends: ReadonlyMap<number, bigint>;
}

/**
 * Dead events in Kafka topics, which keep them for 90 days. A consumer group marks those already published
 * again.
 */
export class KafkaDeadLetters implements DeadLetters {
  private readonly connection: KafkaConnection;
  private readonly log: KafkaEventLog;
  private readonly admin;
  private connected: Promise<void> | undefined;

  constructor(connection: KafkaConnection) {
    this.connection = connection;
    this.log = new KafkaEventLog(connection);
    this.admin = kafkaClient(connection, { requestTimeoutMs: REQUEST_MS, retry: RETRY }).admin();
  }

  async list(event: ReplayableEvent): Promise<DeadEvents> {
    const { events } = await this.walk(deadTopic(event.topic));
    return divide(events, event);
  }

  async replay(event: ReplayableEvent): Promise<Replayed> {
    const topic = deadTopic(event.topic);
    const { events, ends } = await this.walk(topic);
    const { readable, unreadable } = divide(events, event);
    await this.append(event.topic, readable);
    // The group's offset moves past the unreadable events, so they are appended to the dead topic again.
    await this.append(topic, unreadable);
    const partitions = [...ends].map(([partition, end]) => ({ partition, offset: String(end) }));
    await coordinated(() => this.admin.setOffsets({ groupId: GROUP, topic, partitions }));
    return { topic, published: readable.length, unreadable: unreadable.length };
  }

  async close(): Promise<void> {
    await Promise.all([this.log.onApplicationShutdown(), this.connected && this.admin.disconnect()]);
  }

  private async append(topic: string, events: readonly LoggedEvent[]): Promise<void> {
    for (let from = 0; from < events.length; from += BATCH) {
      const batch = events.slice(from, from + BATCH);
      await Promise.all(batch.map(({ key, payload }) => this.log.append({ topic, key, payload })));
    }
  }

  /** Everything between the group's offsets and the current end of the topic. */
  private async walk(topic: string): Promise<Walked> {
    const reader = new PartitionReader(this.connection, topic);
    const events: LoggedEvent[] = [];
    try {
      const { first, next: ends } = await reader.open();
      const committed = await this.committed(topic);
      const at = new Map([...ends].map(([partition]) => [partition, largest(first, committed, partition)]));
      const isDone = (): boolean => [...ends].every(([partition, end]) => (at.get(partition) ?? end) >= end);
      if (isDone()) return { events, ends };
      const done = Promise.withResolvers<void>();
      const following = reader.follow(
        (partition) => at.get(partition) ?? 0n,
        (partition, messages, next) => {
          const end = ends.get(partition) ?? 0n;
          events.push(...messages.filter(({ offset }) => BigInt(offset) < end).map(eventOf));
          at.set(partition, next);
          if (isDone()) done.resolve();
          return Promise.resolve();
        },
      );
      await Promise.race([following, done.promise]);
      return { events, ends };
    } finally {
      await reader.close();
    }
  }

  private async committed(topic: string): Promise<ReadonlyMap<number, bigint>> {
    this.connected ??= this.admin.connect();
    await this.connected;
    const [offsets] = await coordinated(() => this.admin.fetchOffsets({ groupId: GROUP, topics: [topic] }));
    return new Map(offsets?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
  }
}

/** Retention may have removed events that were never replayed; a new group has the offset -1. */
function largest(
  first: ReadonlyMap<number, bigint>,
  committed: ReadonlyMap<number, bigint>,
  partition: number,
): bigint {
  const [beginning, offset] = [first.get(partition) ?? 0n, committed.get(partition) ?? 0n];
  return offset > beginning ? offset : beginning;
}

/** kafkajs does not retry these calls while the group has no coordinator. */
function coordinated<Result>(call: () => Promise<Result>): Promise<Result> {
  return retrying(call, {
    firstMs: COORDINATOR_RETRY_MS,
    lastMs: COORDINATOR_RETRY_MS,
    deadlineMs: COORDINATOR_MS,
    isFinal: (error) => !NO_COORDINATOR.has(brokerFault(error) ?? ''),
  });
}
