import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { loadConfig } from '@svc/runtime';
import { localIdentity } from '@svc/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { kafkaConfig, kafkaConnection } from './events.config.js';
import { CLIENT_ID, kafkaClient } from './kafka/kafka-client.js';

const connectionOf = (env: Record<string, string>) => kafkaConnection(loadConfig(kafkaConfig, env));

it('the settings define how brokers are reached and the user is authenticated', () => {
  expect(connectionOf({ KAFKA_BROKERS: 'a:9092,b:9093' })).toEqual({ brokers: ['a:9092', 'b:9093'] });
  const user = {
    KAFKA_BROKERS: 'a:9092',
    KAFKA_TLS: 'true',
    KAFKA_USERNAME: 'svc',
    KAFKA_PASSWORD: 'secret',
  };
  const expected = { brokers: ['a:9092'], ssl: true, sasl: { username: 'svc', password: 'secret' } };
  for (const [given, mechanism] of [
    [{}, 'scram-sha-512'],
    [{ KAFKA_SASL: 'scram-sha-256' }, 'scram-sha-256'],
    [{ KAFKA_SASL: 'plain' }, 'plain'],
  ] as const)
    expect(connectionOf({ ...user, ...given })).toEqual({
      ...expected,
      sasl: { ...expected.sasl, mechanism },
    });
});

it.each([
  ['without a source of tokens', {}, 'needs either KAFKA_OAUTH_TOKEN_URL or KAFKA_OAUTH_TOKEN_FILE'],
  ['with two sources', { URL: 'https://issuer/token', FILE: '/token' }, 'needs either'],
  ['without the client', { URL: 'https://issuer/token' }, 'needs KAFKA_USERNAME and KAFKA_PASSWORD'],
])('OAuth %s is rejected', (_what, { URL: url, FILE: file }: { URL?: string; FILE?: string }, message) => {
  const settings = {
    ...(url !== undefined && { KAFKA_OAUTH_TOKEN_URL: url }),
    ...(file !== undefined && { KAFKA_OAUTH_TOKEN_FILE: file }),
  };
  const brokers = { KAFKA_BROKERS: 'a:9092', ...settings };
  expect(() => connectionOf({ ...brokers, KAFKA_SASL: 'oauthbearer' })).toThrow(message);
});

it('a source of tokens is rejected where none are used', () => {
  const settings = { KAFKA_BROKERS: 'a:9092', KAFKA_OAUTH_TOKEN_URL: 'https://issuer/token' };
  expect(() => connectionOf(settings)).toThrow('KAFKA_OAUTH_TOKEN_URL: requires KAFKA_SASL=oauthbearer');
});

it('an invalid CA file is rejected with the name of its setting', () => {
  const brokers = { KAFKA_BROKERS: 'a:9092' };
  const tls = { ...brokers, KAFKA_TLS: 'true' };
  expect(() => connectionOf({ ...tls, KAFKA_CA_FILE: '/nowhere/ca.crt' })).toThrow(/KAFKA_CA_FILE: .*ENOENT/);
  expect(() => connectionOf({ ...tls, KAFKA_CA_FILE: import.meta.filename })).toThrow('KAFKA_CA_FILE: ');
  expect(() => connectionOf({ ...brokers, KAFKA_CA_FILE: '/ca.crt' })).toThrow('KAFKA_TLS=true');
});

describe('the certificate of a process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-kafka-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['without its key', ['own.crt', undefined], 'KAFKA_KEY_FILE is not set, which KAFKA_CERT_FILE needs'],
    ['without itself', [undefined, 'own.key'], 'KAFKA_CERT_FILE is not set, which KAFKA_KEY_FILE needs'],
    ['with the key of another one', ['own.crt', 'other.key'], 'KAFKA_KEY_FILE: is not the key'],
    ['that is a key', ['own.key', 'own.key'], /^KAFKA_CERT_FILE: /],
    ['with a key that is a certificate', ['own.crt', 'own.crt'], /^KAFKA_KEY_FILE: /],
    ['that does not exist', ['none.crt', 'own.key'], /^KAFKA_CERT_FILE: .*ENOENT/],
  ] as const)('is rejected %s', async (_what, [cert, key], message) => {
    for (const name of ['own', 'other']) {
      const identity = await localIdentity();
      writeFileSync(join(folder, `${name}.crt`), identity.cert);
      writeFileSync(join(folder, `${name}.key`), identity.key);
    }
    const env = {
      KAFKA_BROKERS: 'a:9092',
      ...(cert && { KAFKA_CERT_FILE: join(folder, cert) }),
      ...(key && { KAFKA_KEY_FILE: join(folder, key) }),
    };
    expect(() => connectionOf({ ...env, KAFKA_TLS: 'true' })).toThrow(message);
    expect(() => connectionOf(env)).toThrow('requires KAFKA_TLS=true');
  });
});

it('brokers are reached over TLS after their certificate is verified', async () => {
  const identity = await localIdentity();
  const heard = Promise.withResolvers<string>();
  const server = createServer(identity, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      heard.resolve(bytes.toString('latin1'));
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = connectionOf({ KAFKA_BROKERS: `127.0.0.1:${port}`, KAFKA_TLS: 'true' });
  const connect = (): Promise<void> =>
    kafkaClient(connection, { requestTimeoutMs: 20_000, retry: { retries: 0 } })
      .admin()
      .connect();
  await expect(connect()).rejects.toThrow(/certificate/);
  const distrust = identity.trust();
  try {
    await expect(connect()).rejects.toThrow(/Closed connection/);
    expect(await heard.promise).toContain(CLIENT_ID);
  } finally {
    distrust();
    server.close();
  }
});
