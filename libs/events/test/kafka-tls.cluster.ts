import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENTS } from '@svc/contracts/messages';
import { temporaryTlsBroker } from '@svc/infra';
import { loadConfig } from '@svc/runtime';
import { localIdentity } from '@svc/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createTopics, kafkaConfig, kafkaConnection } from '../src/index.js';
import { type KafkaConnection, kafkaClient } from '../src/kafka/kafka-client.js';

const terms = { partitions: 1, replicas: 1, minInSyncReplicas: 1, retentionDays: 1 };
const identity = await localIdentity();
const broker = await temporaryTlsBroker(identity);
const folder = await mkdtemp(join(tmpdir(), 'svc-kafka-tls-'));
/** TLS 1.3 reports a refused client certificate after the handshake. */
const REFUSED = /certificate|alert|ECONNRESET|Closed connection|Connection/;
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

it('a process authenticates by the certificate of KAFKA_CERT_FILE, and by a renewed one without a restart', async () => {
  const [own, other] = [await localIdentity(), await localIdentity()];
  const strict = await temporaryTlsBroker(identity, own.cert);
  onTestFinished(() => strict.wipe());
  const env = {
    KAFKA_BROKERS: (await strict.brokers[0]?.start()) ?? '',
    KAFKA_TLS: 'true',
    KAFKA_CA_FILE: join(folder, 'broker.crt'),
    KAFKA_CERT_FILE: join(folder, 'client.crt'),
    KAFKA_KEY_FILE: join(folder, 'client.key'),
  };
  const use = async ({ cert, key }: { cert: string; key: string }): Promise<void> => {
    await writeFile(env.KAFKA_CERT_FILE, cert);
    await writeFile(env.KAFKA_KEY_FILE, key);
  };
  await writeFile(env.KAFKA_CA_FILE, identity.cert);
  await use(other);
  const connection = kafkaConnection(loadConfig(kafkaConfig, env));
  const client = kafkaClient(connection, { requestTimeoutMs: 20_000, retry: { retries: 0 } });
  await expect(client.admin().connect()).rejects.toThrow(REFUSED);
  await use(own);
  const admin = client.admin();
  await admin.connect();
  await admin.disconnect();
  expect(await createTopics(connection, EVENTS, terms)).toContain('usage.recorded.v1');
  const { KAFKA_CERT_FILE: _cert, KAFKA_KEY_FILE: _key, ...anonymous } = env;
  const stranger = kafkaClient(kafkaConnection(loadConfig(kafkaConfig, anonymous)), {
    requestTimeoutMs: 20_000,
    retry: { retries: 0 },
  });
  await expect(stranger.admin().connect()).rejects.toThrow(REFUSED);
});

it('a broker is trusted only by the CA of KAFKA_CA_FILE', async () => {
  const believing = await connectionBy(identity.cert);
  expect(await createTopics(believing, EVENTS, terms)).toContain('usage.recorded.v1');
  const doubting = await connectionBy((await localIdentity()).cert);
  const client = kafkaClient(doubting, { requestTimeoutMs: 20_000, retry: { retries: 0 } });
  await expect(client.admin().connect()).rejects.toThrow(/certificate/);
});
