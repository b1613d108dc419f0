import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryTokenBroker } from '@svc/infra';
import { loadConfig } from '@svc/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kafkaConfig, kafkaConnection } from '../src/index.js';
import { type KafkaConnection, kafkaClient } from '../src/kafka/kafka-client.js';
import { upTo } from './counted-events.js';
import { Collected, EventHarness, eventually } from './event-harness.js';
import { eventLogConformance } from './event-log.conformance.js';
import { type KafkaLogServer, startLogOf } from './kafka-log-server.js';
import { CLIENT, TokenIssuer } from './token-issuer.js';

/** kafkajs authenticates again 10 s before the end of a session. */
const SESSION_MS = 12_000;

const REFUSED = 'the broker refuses the token: {"status":"invalid_token"}';

const issuer = await TokenIssuer.start();
const broker = await temporaryTokenBroker({ ...issuer.trust, sessionMs: SESSION_MS });
const folder = await mkdtemp(join(tmpdir(), 'svc-kafka-oauth-'));

const SETTINGS = {
  KAFKA_SASL: 'oauthbearer',
  KAFKA_USERNAME: CLIENT.id,
  KAFKA_PASSWORD: CLIENT.secret,
  KAFKA_OAUTH_TOKEN_URL: `${issuer.url}/token`,
  KAFKA_OAUTH_SCOPE: 'publish consume',
};

let server: KafkaLogServer;

beforeAll(async () => {
  server = await startLogOf(broker, SETTINGS);
});

afterAll(async () => {
  await server.stop();
  await issuer.close();
  await rm(folder, { recursive: true });
});

eventLogConformance('Kafka by OAuth', () => Promise.resolve({ ...server, stop: () => Promise.resolve() }));

async function connectionBy(settings: Readonly<Record<string, string>>): Promise<KafkaConnection> {
  const KAFKA_BROKERS = (await broker.brokers[0]?.start()) ?? '';
  return kafkaConnection(loadConfig(kafkaConfig, { KAFKA_BROKERS, ...settings }));
}

async function connects(connection: KafkaConnection): Promise<void> {
  const admin = kafkaClient(connection, { requestTimeoutMs: 20_000, retry: { retries: 0 } }).admin();
  await admin.connect();
  await admin.disconnect();
}

describe('a process with KAFKA_SASL=oauthbearer', () => {
  it('publishes and consumes beyond the lifetime of its token and of its sessions', async () => {
    const harness = await EventHarness.on(server);
    const first = new Collected();
    const { log } = await harness.start({ first: first.handle });
    const before = issuer.scopes.length;
    const startMs = performance.now();
    for (let n = 1; performance.now() < startMs + SESSION_MS + 2_000; n += 1) {
      await harness.publish(log, n, n);
      await eventually(() => expect(first.numbers).toEqual(upTo(n)));
      await sleep(500);
    }
    expect(issuer.scopes.length).toBeGreaterThan(before);
    expect(new Set(issuer.scopes)).toEqual(new Set(['publish consume']));
    await harness.close();
  });

  it('is refused with the secret of another client, by the name of the token endpoint', async () => {
    const connection = await connectionBy({ ...SETTINGS, KAFKA_PASSWORD: 'other' });
    await expect(connects(connection)).rejects.toThrow(
      'the token endpoint of the brokers responded with 401',
    );
  });

  it('reads the token from KAFKA_OAUTH_TOKEN_FILE for each connection, which another program renews', async () => {
    const file = join(folder, 'token');
    const settings = { KAFKA_SASL: 'oauthbearer', KAFKA_OAUTH_TOKEN_FILE: file };
    await writeFile(file, `${issuer.token()}\n`);
    const connection = await connectionBy(settings);
    await connects(connection);
    await writeFile(file, issuer.token('other'));
    await expect(connects(connection)).rejects.toThrow(REFUSED);
    const other = await TokenIssuer.start();
    await writeFile(file, other.token());
    await expect(connects(connection)).rejects.toThrow(REFUSED);
    await other.close();
    await writeFile(file, issuer.token());
    await connects(connection);
  });
});
