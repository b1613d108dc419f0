import { within } from '@svc/runtime';
import { type KafkaMessage, logLevel } from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import { createLogger } from 'kafkajs/src/loggers/index.js';
import createSocketFactory from 'kafkajs/src/network/socketFactory.js';
import { CLIENT_ID, CONNECT_MS, type KafkaConnection, shuffled, silentLog } from './kafka-client.js';

const REQUEST_MS = 1_000;
const OPEN_MS = 5_000;
const GOODBYE_MS = 500;
/** How long a broker may wait for new events, and how late its response may be beyond that. */
const FETCH_WAIT_MS = 300;
const FETCH_LATE_MS = 500;
const FETCH_BYTES = 1024 * 1024;
const READ_COMMITTED = 1;

/**
 * Reads every partition of a topic without a group, using the internals of kafkajs. It is ready within
 * milliseconds, knows its start offsets, and leaves nothing behind on the brokers.
 */
export class PartitionReader {
  private readonly topic: string;
  private readonly cluster: Cluster;
  private partitions: readonly number[] = [];
  private closed = false;

  constructor(connection: KafkaConnection, topic: string) {
    this.topic = topic;
    const { brokers, ssl, sasl } = connection;
    this.cluster = new Cluster({
      logger: createLogger({ level: logLevel.NOTHING, logCreator: silentLog }),
      socketFactory: createSocketFactory(),
      brokers: shuffled(brokers),
      clientId: CLIENT_ID,
      ...(ssl !== undefined && { ssl }),
      ...(sasl !== undefined && { sasl }),
      connectionTimeout: CONNECT_MS,
      authenticationTimeout: 2 * CONNECT_MS,
      reauthenticationThreshold: 10_000,
      requestTimeout: REQUEST_MS,
      enforceRequestTimeout: true,
      metadataMaxAge: 60_000,
      allowAutoTopicCreation: false,
      isolationLevel: READ_COMMITTED,
      retry: { retries: 0, initialRetryTime: 50 },
    });
  }

  /** Connects, and returns the first and the next offset of every partition. */
  open(): Promise<{
    readonly first: ReadonlyMap<number, bigint>;
    readonly next: ReadonlyMap<number, bigint>;
  }> {
    return within(OPEN_MS, this.readOffsets());
  }

  /**
   * Reads from the offsets that `nextOffset` returns, until it fails or is closed. Calls `take` repeatedly,
   * for one partition at a time.
   */
  async follow(
    nextOffset: (partition: number) => bigint,
    take: (partition: number, messages: readonly KafkaMessage[], next: bigint) => Promise<void>,
  ): Promise<never> {
    const leaders = this.cluster.findLeaderForPartitions(this.topic, this.partitions);
    const following = Object.entries(leaders).map(async ([nodeId, partitions]): Promise<never> => {
      const broker = await this.cluster.findBroker({ nodeId });
      for (;;) {
        await this.stayOpen();
        const request = partitions.map((partition) => ({
          partition,
          fetchOffset: String(nextOffset(partition)),
          maxBytes: FETCH_BYTES,
        }));
        const { responses } = await within(
          FETCH_WAIT_MS + FETCH_LATE_MS,
          broker.fetch({
            maxWaitTime: FETCH_WAIT_MS,
            minBytes: 1,
            maxBytes: FETCH_BYTES,
            isolationLevel: READ_COMMITTED,
            topics: [{ topic: this.topic, partitions: request }],
          }),
        );
        for (const { partition, messages } of responses.flatMap((response) => response.partitions)) {
          const last = messages.at(-1);
          if (last === undefined) continue;
          await this.stayOpen();
          // A broker returns whole batches, which may start earlier, and control records.
          const wanted = messages.filter(
            ({ offset, isControlRecord }) =>
              BigInt(offset) >= nextOffset(partition) && isControlRecord !== true,
          );
          await take(partition, wanted, BigInt(last.offset) + 1n);
        }
      }
    });
    return Promise.race(following);
  }

  /** Whether the topic still has as many partitions as at the start. */
  async isWhole(): Promise<boolean> {
    await within(OPEN_MS, this.cluster.refreshMetadata());
    return this.cluster.findTopicPartitionMetadata(this.topic).length === this.partitions.length;
  }

  async close(): Promise<void> {
    this.closed = true;
    await within(GOODBYE_MS, this.cluster.disconnect()).catch(() => undefined);
  }

  /** Stops the loops for the other brokers when one has failed: kafkajs would connect again for them. */
  private async stayOpen(): Promise<void> {
    if (!this.closed) return;
    // Another broker may have been connected meanwhile.
    await this.close();
    throw new Error(`the reader of ${this.topic} is closed`);
  }

  private async readOffsets(): Promise<{
    first: ReadonlyMap<number, bigint>;
    next: ReadonlyMap<number, bigint>;
  }> {
    await this.cluster.connect();
    await this.cluster.addTargetTopic(this.topic);
    this.partitions = this.cluster
      .findTopicPartitionMetadata(this.topic)
      .map(({ partitionId }) => partitionId);
    if (this.partitions.length === 0) throw new Error(`${this.topic} has no partitions`);
    const [first, next] = await Promise.all([this.offsets(true), this.offsets(false)]);
    return { first, next };
  }

  private async offsets(fromBeginning: boolean): Promise<ReadonlyMap<number, bigint>> {
    const partitions = this.partitions.map((partition) => ({ partition }));
    const [found] = await this.cluster.fetchTopicsOffset([{ topic: this.topic, fromBeginning, partitions }]);
    return new Map(found?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
  }
}
