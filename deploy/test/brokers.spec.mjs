// Tests the files by which processes authenticate to the brokers, and the brokers to them.
import { describe, expect, it } from 'vitest';
import { EXTERNAL, Release } from './chart.mjs';

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
