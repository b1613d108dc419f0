import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '@svc/runtime';
import type { Admin, Kafka } from 'kafkajs';
import { type KafkaConnection, kafkaClient } from './kafka-client.js';

const REQUEST_MS = 2_000;
const ASK_MS = 5_000;
const GOODBYE_MS = 1_000;
const POLL_MS = 10;

/** A consumer group of a topic. */
export interface GroupOfTopic {
  readonly topic: string;
  readonly groupId: string;
}

/** Offsets by partition. */
type Offsets = ReadonlyMap<number, bigint>;

/** Reads the progress of groups on its own connection, so that callers never wait behind a batch. */
export class TopicProgress {
  private readonly kafka: Kafka;
  private readonly endResults = new NextResults<Offsets>();
  private readonly committedResults = new NextResults<Offsets>();
  private admin: Promise<Admin> | undefined;

  constructor(connection: KafkaConnection) {
    this.kafka = kafkaClient(connection, {
      requestTimeoutMs: REQUEST_MS,
      retry: { retries: 2, maxRetryTime: 500 },
    });
  }

  /** The offset after the newest event of each partition that has any. */
  ends(topic: string): Promise<Offsets> {
    return this.endResults.next(topic, () =>
      this.use(async (admin) => {
        const offsets = await admin.fetchTopicOffsets(topic);
        return new Map(
          offsets
            .filter(({ high, low }) => high !== low)
            .map(({ partition, high }) => [partition, BigInt(high)]),
        );
      }),
    );
  }

  /**
   * Resolves to true when the group has committed everything before `ends`, and to false after the deadline.
   */
  async reached(group: GroupOfTopic, ends: Offsets, deadline: number): Promise<boolean> {
    while (ends.size > 0) {
      const committed = await this.committed(group);
      const isBehind = [...ends].some(([partition, end]) => (committed.get(partition) ?? 0n) < end);
      if (!isBehind) return true;
      if (Date.now() > deadline) return false;
      await sleep(POLL_MS);
    }
    return true;
  }

  async close(): Promise<void> {
    const admin = this.admin;
    this.admin = undefined;
    const goodbye = admin?.then((opened) => opened.disconnect());
    if (goodbye) await within(GOODBYE_MS, goodbye).catch(() => undefined);
  }

  /** The committed offsets of the group, by partition. */
  committed({ groupId, topic }: GroupOfTopic): Promise<Offsets> {
    return this.committedResults.next(groupId, () =>
      this.use(async (admin) => {
        const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
        return new Map(offsets?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
      }),
    );
  }

  private async use<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result> {
    const opened = (this.admin ??= this.open());
    try {
      return await within(
        ASK_MS,
        opened.then((admin) => work(admin)),
      );
    } catch (error) {
      if (this.admin === opened) this.admin = undefined;
      // Disconnects in the background.
      void opened.then((admin) => admin.disconnect()).catch(() => undefined);
      throw error;
    }
  }

  private async open(): Promise<Admin> {
    const admin = this.kafka.admin();
    await admin.connect();
    return admin;
  }
}

/**
 * Deduplicates concurrent calls. A call during a running one shares the next one, because its result must be
 * newer.
 */
class NextResults<Result> {
  private readonly running = new Map<string, Promise<Result>>();
  private readonly underWay = new Map<string, Promise<Result>>();

  next(name: string, work: () => Promise<Result>): Promise<Result> {
    const running = this.running.get(name);
    if (!running) {
      const response = work().finally(() => this.running.delete(name));
      this.running.set(name, response);
      return response;
    }
    const waiting = this.underWay.get(name);
    if (waiting) return waiting;
    const next = running
      .catch(() => undefined)
      .then(() => {
        this.underWay.delete(name);
        return this.next(name, work);
      });
    this.underWay.set(name, next);
    return next;
  }
}
