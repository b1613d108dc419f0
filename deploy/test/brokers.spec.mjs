// Tests the files by which processes authenticate to the brokers, and the brokers to them.
import { describe, expect, it } from 'vitest';
import { EXTERNAL, Release } from './chart.mjs';
import { mayReach, ours } from './network.mjs';

it('the certificate for the brokers is a file in each process that connects to them, at the path in its settings', async () => {
  const clientSecret = { name: 'svc', certificate: 'user.crt', key: 'user.key' };
  const release = await Release.of({ ...EXTERNAL, kafka: { ...EXTERNAL.kafka, tls: true, clientSecret } });
  const asking = release.pods().filter(({ name }) => 'KAFKA_BROKERS' in release.environment(name));
  expect(asking.length).toBeGreaterThan(2);
  for (const { name, spec } of asking) {
    const [{ mountPath }] = spec.containers[0].volumeMounts.filter((mount) => mount.name === 'kafka-client');
    expect(release.environment(name)).toMatchObject({
      KAFKA_CERT_FILE: `${mountPath}/tls.crt`,
      KAFKA_KEY_FILE: `${mountPath}/tls.key`,
    });
    expect(spec.volumes.find((volume) => volume.name === 'kafka-client').secret).toEqual({
      secretName: 'svc',
      defaultMode: 0o440,
      items: [
        { key: 'user.crt', path: 'tls.crt' },
        { key: 'user.key', path: 'tls.key' },
      ],
    });
  }
  const mounting = release
    .pods()
    .filter(({ spec }) => spec.volumes?.some((volume) => volume.name === 'kafka-client'));
  expect(mounting).toHaveLength(asking.length);
});

describe('the certificate authority of the brokers', () => {
  it('is a file in each process that connects to them, at the path in its setting', async () => {
    const kafka = { ...EXTERNAL.kafka, tls: true, caSecret: { name: 'svc-data-cluster-ca-cert' } };
    const given = await Release.of({ ...EXTERNAL, kafka });
    const asking = given.pods().filter(({ name }) => 'KAFKA_BROKERS' in given.environment(name));
    expect(asking.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['api-gateway', 'billing-ledger', 'topics']),
    );
    for (const { name, spec } of asking) {
      const [{ mountPath }] = spec.containers[0].volumeMounts.filter((mount) => mount.name === 'kafka');
      expect(given.environment(name).KAFKA_CA_FILE).toBe(`${mountPath}/ca.crt`);
      expect(spec.volumes.find((volume) => volume.name === 'kafka').secret).toEqual({
        secretName: 'svc-data-cluster-ca-cert',
        defaultMode: 0o440,
        items: [{ key: 'ca.crt', path: 'ca.crt' }],
      });
    }
    const mounting = given.pods().filter(({ spec }) => spec.volumes?.some(({ name }) => name === 'kafka'));
    expect(mounting.length).toBe(asking.length);
  });
});

describe('tokens for the brokers', () => {
  const address = '93.184.215.14';
  const of = (oauth, over) =>
    Release.of({ ...EXTERNAL, kafka: { ...EXTERNAL.kafka, sasl: 'oauthbearer', oauth, ...over } });
  const asking = (release) =>
    release.pods().filter(({ name }) => 'KAFKA_BROKERS' in release.environment(name));

  it.each([
    ['https://issuer.example/token', 443],
    ['http://issuer:8080/realms/svc/token?x=1:2', 8080],
    ['http://issuer', 80],
  ])('come from the endpoint %s, which the processes that use Kafka may reach', async (tokenUrl, port) => {
    const release = await of(
      { tokenUrl, scope: 'kafka' },
      { username: 'svc', existingSecret: { name: 'k' } },
    );
    for (const { name } of asking(release)) {
      expect(release.environment(name)).toMatchObject({
        KAFKA_SASL: 'oauthbearer',
        KAFKA_USERNAME: 'svc',
        KAFKA_OAUTH_TOKEN_URL: tokenUrl,
        KAFKA_OAUTH_SCOPE: 'kafka',
      });
      const from = ours(release, name);
      expect(mayReach(release, { from, to: { address }, ports: [port] })).toBe(true);
    }
    const limiter = ours(release, 'rate-limiter');
    expect(mayReach(release, { from: limiter, to: { address }, ports: [port] })).toBe(false);
  });

  it('may be a file, which needs no user', async () => {
    const release = await of({ tokenFile: '/var/run/kafka/token' });
    for (const { name } of asking(release)) {
      expect(release.environment(name)).toMatchObject({
        KAFKA_SASL: 'oauthbearer',
        KAFKA_OAUTH_TOKEN_FILE: '/var/run/kafka/token',
      });
      expect(release.environment(name)).not.toHaveProperty('KAFKA_USERNAME');
    }
  });
});
