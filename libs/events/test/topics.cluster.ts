import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { EVENTS } from '@svc/contracts/messages';
import { temporaryInfra } from '@svc/infra';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '@svc/runtime';
import { createTopics, kafkaConfig, kafkaConnection } from '../src/index.js';
import { type KafkaConnection, kafkaClient } from '../src/kafka/kafka-client.js';
import { KafkaEventLog } from '../src/kafka/kafka-event-log.js';
import { counted, upTo } from './counted-events.js';

const infra = await temporaryInfra();
const terms = { partitions: 5, replicas: 1, minInSyncReplicas: 1, retentionDays: 3 };
let connection: KafkaConnection;

beforeAll(async () => {
  const variables = { KAFKA_BROKERS: await infra.kafka.start(), ...(await infra.kafka.credentials()) };
  connection = kafkaConnection(loadConfig(kafkaConfig, variables));
});

afterAll(() => infra.wipe());

it('rejects clients without the password', async () => {
  const { brokers } = connection;
  const sasl = { mechanism: 'plain', username: 'svc', password: 'another' } as const;
  for (const stranger of [{ brokers }, { brokers, sasl }]) {
    const admin = kafkaClient(stranger, { requestTimeoutMs: 20_000, retry: { retries: 0 } }).admin();
    await expect(admin.connect().then(() => admin.listTopics())).rejects.toThrow(
      /closed connection|authentication failed/i,
    );
    await admin.disconnect();
  }
});

it('creates the topic and the dead-letter topic of each event, once', async () => {
  const names = EVENTS.flatMap(({ topic }) => [topic, `${topic}.dead`]);
  expect(await createTopics(connection, EVENTS, terms)).toEqual(names);
  expect(await createTopics(connection, EVENTS, { ...terms, partitions: 7 })).toEqual([]);
  const admin = new Kafka({
    ...connection,
    brokers: [...connection.brokers],
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  const { topics } = await admin.fetchTopicMetadata({ topics: ['usage.recorded.v1', 'key.changed.v1'] });
  const parts = Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length]));
  expect(parts).toEqual({ 'usage.recorded.v1': 5, 'key.changed.v1': 1 });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: 2, name: 'usage.recorded.v1', configNames: ['retention.ms', 'min.insync.replicas'] }],
  });
  const found = resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]);
  expect(Object.fromEntries(found ?? [])).toEqual({
    'retention.ms': String(3 * 86_400_000),
    'min.insync.replicas': '1',
  });
  await admin.disconnect();
});

/** The bytes of a topic on the disk of the broker. */
async function bytesOf(topic: string): Promise<number> {
  const data = join(infra.folder, 'kafka', 'data');
  const entries = await readdir(data, { recursive: true, withFileTypes: true });
  const segments = entries.filter(
    ({ name, parentPath }) => name.endsWith('.log') && parentPath.startsWith(join(data, `${topic}-`)),
  );
  const sizes = await Promise.all(segments.map(({ name, parentPath }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

it('stores events that arrive together in less than half of their characters', async () => {
  await createTopics(connection, [counted], terms);
  const log = new KafkaEventLog(connection);
  const owner = randomBytes(256).toString('hex');
  const events = upTo(1_000).map((n) => ({ owner, n }));
  await Promise.all(events.map((each) => log.publish(counted, each)));
  await log.onApplicationShutdown();
  const bytes = await bytesOf(counted.topic);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(events.reduce((sum, each) => sum + JSON.stringify(each).length, 0) / 2);
});
