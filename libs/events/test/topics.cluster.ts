import { Kafka, logLevel } from 'kafkajs';
import { EVENTS } from '@svc/contracts';
import { temporaryInfra } from '@svc/infra';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTopics } from '../src/index.js';

const infra = await temporaryInfra();
const terms = { partitions: 5, replicas: 1, minInSyncReplicas: 1, retentionDays: 3 };
let brokers: string[];

beforeAll(async () => {
  brokers = [await infra.kafka.start()];
});

afterAll(() => infra.wipe());

it('makes the topic of each event and the one of its dead events, once', async () => {
  const names = EVENTS.flatMap(({ topic }) => [topic, `${topic}.dead`]);
  expect(await createTopics({ brokers }, EVENTS, terms)).toEqual(names);
  expect(await createTopics({ brokers }, EVENTS, { ...terms, partitions: 7 })).toEqual([]);
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
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
