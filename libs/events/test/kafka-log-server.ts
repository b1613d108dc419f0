import { type Server, type TemporaryBrokers, temporaryBrokers, temporaryInfra } from '@svc/infra';
import { loadConfig } from '@svc/runtime';
import { AssignerProtocol, Kafka, Partitioners, logLevel } from 'kafkajs';
import { vi } from 'vitest';
import { KafkaDeadLetters } from '../src/dead-letters/kafka-dead-letters.js';
import { EventsModule, kafkaConfig, kafkaConnection } from '../src/index.js';
import type { KafkaConnection } from '../src/kafka/kafka-client.js';
import { KafkaEventLog } from '../src/kafka/kafka-event-log.js';
import type { LogServer, StoredEvent } from './event-harness.js';

const PARTITIONS = 4;
/** For inspecting a broker that is up but may be slow. */
const PATIENT = {
  logLevel: logLevel.NOTHING,
  requestTimeout: 30_000,
  connectionTimeout: 10_000,
  retry: { retries: 20 },
};

const ONCE_READY = { timeout: 30_000, interval: 20 };

export interface KafkaLogServer extends LogServer {
  readonly connection: KafkaConnection;
  /** One of its brokers, to inject faults. */
  readonly broker: Server;
  /** The broker that coordinates a group. */
  coordinatorOf(group: string, topic: string): Promise<Server>;
  /** Increases a topic to this number of partitions. */
  widen(topic: string, partitions: number): Promise<void>;
  /** The partitions assigned to the members of a group. */
  partitionsOf(group: string, topic: string): Promise<readonly number[]>;
}

/** The log on Kafka, with its own broker. */
export async function startKafkaLog(): Promise<KafkaLogServer> {
  const infra = await temporaryInfra();
  await infra.kafka.start();
  return openKafkaLog([infra.kafka], () => infra.wipe());
}

/** The log on three brokers: an event is stored once two of them have it, and one may fail. */
export async function startReplicatedLog(): Promise<KafkaLogServer> {
  const three = await temporaryBrokers(3);
  await Promise.all(three.brokers.map((broker) => broker.start()));
  return openKafkaLog(three.brokers, () => three.wipe());
}

/** The log on a broker that is reached with these settings, in addition to its address. */
export function startLogOf(
  started: TemporaryBrokers,
  settings: Readonly<Record<string, string>>,
): Promise<KafkaLogServer> {
  return openKafkaLog(started.brokers, () => started.wipe(), settings);
}

async function openKafkaLog(
  servers: readonly Server[],
  wipe: () => Promise<void>,
  settings?: Readonly<Record<string, string>>,
): Promise<KafkaLogServer> {
  const [broker] = servers;
  if (!broker) throw new Error('a log needs a broker');
  const brokers = await Promise.all(servers.map((server) => server.start()));
  const variables = { KAFKA_BROKERS: brokers.join(), ...(settings ?? (await broker.credentials())) };
  const connection = kafkaConnection(loadConfig(kafkaConfig, variables));
  const kafka = new Kafka({ clientId: 'test', ...connection, brokers, ...PATIENT });
  const admin = kafka.admin();
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await Promise.all([admin.connect(), producer.connect()]);
  const copies = {
    replicationFactor: servers.length,
    configEntries: [{ name: 'min.insync.replicas', value: String(Math.min(servers.length, 2)) }],
  };
  return {
    connection,
    broker,
    coordinatorOf: async (group, topic) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: ['__consumer_offsets'] });
      const partitions = topics[0]?.partitions ?? [];
      const place = Math.abs(javaHash(`${group}.${topic}`)) % partitions.length;
      const leader = partitions.find(({ partitionId }) => partitionId === place)?.leader ?? 0;
      const coordinator = servers[leader - 1];
      if (!coordinator) throw new Error(`nobody coordinates ${group}`);
      return coordinator;
    },
    widen: async (topic, count) => {
      await admin.createPartitions({ topicPartitions: [{ topic, count }] });
    },
    partitionsOf: async (group, topic) => {
      const { groups } = await admin.describeGroups([`${group}.${topic}`]);
      const members = groups.flatMap((found) => found.members);
      return members.flatMap(({ memberAssignment }) => {
        const decoded = AssignerProtocol.MemberAssignment.decode(memberAssignment);
        return decoded?.assignment[topic] ?? [];
      });
    },
    createTopic: async (topic) => {
      const topics = [topic, `${topic}.dead`].map((name) => ({
        topic: name,
        numPartitions: PARTITIONS,
        ...copies,
      }));
      // After a broker was down, its address may be unknown for a moment.
      await vi.waitFor(() => admin.createTopics({ waitForLeaders: false, topics }), ONCE_READY);
      for (const { topic: name } of topics) await vi.waitFor(() => admin.fetchTopicOffsets(name), ONCE_READY);
    },
    deadLetters: () => new KafkaDeadLetters(connection),
    openLog: (config) => new KafkaEventLog({ ...connection, ...config }),
    module: (config) => EventsModule.kafka({ ...connection, ...config }),
    stored: (topic) => readAll(kafka, topic),
    store: async (topic, { key, payload }) => {
      await producer.send({ topic, messages: [{ key, value: payload }] });
    },
    handledBy: async (group, topic) => {
      const [offsets] = await admin.fetchOffsets({ groupId: `${group}.${topic}`, topics: [topic] });
      return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
    },
    pause: () => broker.pause(),
    resume: () => broker.resume(),
    stop: async () => {
      await Promise.allSettled([admin.disconnect(), producer.disconnect()]);
      await wipe();
    },
  };
}

/** Kafka chooses a group's coordinator by this hash. */
const javaHash = (text: string): number =>
  [...text].reduce((hash, character) => (Math.imul(hash, 31) + character.charCodeAt(0)) | 0, 0);

/** Reads a whole topic, with a consumer of its own. */
async function readAll(kafka: Kafka, topic: string): Promise<StoredEvent[]> {
  const admin = kafka.admin();
  await admin.connect();
  // A restarted broker may not lead yet.
  const ends = await vi.waitFor(() => admin.fetchTopicOffsets(topic), ONCE_READY);
  await admin.disconnect();
  const missing = new Map(
    ends.filter(({ high }) => high !== '0').map(({ partition, high }) => [partition, Number(high)]),
  );
  const found: StoredEvent[] = [];
  if (missing.size === 0) return found;
  const consumer = kafka.consumer({ groupId: `look-${crypto.randomUUID()}`, maxWaitTimeInMs: 50 });
  const done = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ partition, message }) => {
      found.push({ key: message.key?.toString() ?? '', payload: message.value?.toString() ?? '' });
      if (Number(message.offset) + 1 >= (missing.get(partition) ?? 0)) missing.delete(partition);
      if (missing.size === 0) done.resolve();
      return Promise.resolve();
    },
  });
  await done.promise;
  await consumer.disconnect();
  return found;
}
