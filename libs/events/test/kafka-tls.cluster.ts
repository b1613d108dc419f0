import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENTS } from '@svc/contracts';
import { temporaryTlsBroker } from '@svc/infra';
import { loadConfig } from '@svc/runtime';
import { localIdentity } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTopics, kafkaConfig, kafkaConnection } from '../src/index.js';
import { type KafkaConnection, kafkaClient } from '../src/kafka/kafka-client.js';

const terms = { partitions: 1, replicas: 1, minInSyncReplicas: 1, retentionDays: 1 };
const identity = await localIdentity();
const broker = await temporaryTlsBroker(identity);
const folder = await mkdtemp(join(tmpdir(), 'svc-kafka-tls-'));
let address: string;

beforeAll(async () => {
  address = (await broker.brokers[0]?.start()) ?? '';
});

afterAll(async () => {
  await broker.wipe();
  await rm(folder, { recursive: true });
});

const connectionBy = async (authority: string): Promise<KafkaConnection> => {
  const file = join(folder, 'ca.crt');
  await writeFile(file, authority);
  const env = { KAFKA_BROKERS: address, KAFKA_TLS: 'true', KAFKA_CA_FILE: file };
  return kafkaConnection(loadConfig(kafkaConfig, env));
};

it('a broker is trusted only by the CA of KAFKA_CA_FILE', async () => {
  const believing = await connectionBy(identity.cert);
  expect(await createTopics(believing, EVENTS, terms)).toContain('usage.recorded.v1');
  const doubting = await connectionBy((await localIdentity()).cert);
  const client = kafkaClient(doubting, { requestTimeoutMs: 20_000, retry: { retries: 0 } });
  await expect(client.admin().connect()).rejects.toThrow(/certificate/);
});
