import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DATA, Release, renderText } from './chart.mjs';
import { mayReach, ours } from './network.mjs';
import { SCHEMAS, tool } from './tools.mjs';

const OF_DATA = { chart: DATA, name: 'svc-data' };
const valuesOf = async (name) =>
  parse(await readFile(new URL(`../envs/${name}.yaml`, import.meta.url), 'utf8'));

let data;
const one = (kind) => data.all(kind)[0];

beforeAll(async () => {
  data = await Release.of({ postgres: { backup: { objectStore: 'store' } } }, OF_DATA);
});

describe('the data', () => {
  it('is on two servers before it is acknowledged', () => {
    expect(one('Cluster').spec.postgresql.synchronous).toEqual({
      method: 'any',
      number: 1,
      dataDurability: 'required',
    });
    expect(one('Kafka').spec.kafka.config).toMatchObject({
      'default.replication.factor': 3,
      'min.insync.replicas': 2,
      'unclean.leader.election.enable': false,
    });
  });

  it('outlives its release', () => {
    for (const kind of ['Cluster', 'Kafka', 'KafkaNodePool'])
      expect(one(kind).metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(one('KafkaNodePool').spec.storage.volumes).toMatchObject([{ deleteClaim: false }]);
  });

  it('is archived if an object store is configured', async () => {
    expect(one('Cluster').spec.plugins).toMatchObject([{ isWALArchiver: true }]);
    expect(one('ScheduledBackup').spec.cluster).toEqual({ name: one('Cluster').metadata.name });
    const bare = await Release.of({}, OF_DATA);
    expect(bare.all('ScheduledBackup')).toEqual([]);
  });

  it('can be on one server of each kind, which waits for no other', async () => {
    const small = await Release.of({ postgres: { instances: 1 }, kafka: { replicas: 1 } }, OF_DATA);
    expect(small.all('Cluster')[0].spec.postgresql).not.toHaveProperty('synchronous');
    expect(small.all('Kafka')[0].spec.kafka.config).toMatchObject({
      'default.replication.factor': 1,
      'min.insync.replicas': 1,
    });
  });

  it('can include a Redis, with the password of an existing Secret', async () => {
    expect(data.all('Redis')).toEqual([]);
    const [redis] = (await Release.of({ redis: { enabled: true } }, OF_DATA)).all('Redis');
    expect(redis.metadata.name).toBe('svc-data-redis');
    const { kubernetesConfig, storage } = redis.spec;
    expect(kubernetesConfig.redisSecret).toEqual({ name: 'svc-redis', key: 'password' });
    expect(storage).toBeUndefined();
  });

  it('is valid for CloudNativePG and Helm', async () => {
    expect(await tool('helm', ['lint', DATA, '--strict'])).toContain('0 chart(s) failed');
    const location = `${SCHEMAS}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    // No Go module describes Strimzi's resources.
    const args = [
      '-strict',
      '-summary',
      '-skip',
      'Kafka,KafkaNodePool,KafkaUser',
      '-schema-location',
      location,
    ];
    const text = await renderText({ postgres: { backup: { objectStore: 'store' } } }, OF_DATA);
    expect(await tool('kubeconform', args, text)).toContain('Valid: 2, Invalid: 0, Errors: 0, Skipped: 3');
  });

  it('refuses an unknown value', async () => {
    await expect(renderText({ postgres: { replicas: 3 } }, OF_DATA)).rejects.toThrow('replicas');
  });
});

describe.each(['staging', 'prod'])('deploy/envs/%s.yaml', (name) => {
  it('has the addresses of the servers of the data chart, and may connect to them', async () => {
    const release = await Release.of(await valuesOf(name));
    const [{ valueFrom }] = release
      .pod('billing-ledger')
      .spec.containers[0].env.filter((variable) => variable.name === 'DATABASE_URL');
    expect(valueFrom.secretKeyRef).toEqual({ name: `${one('Cluster').metadata.name}-app`, key: 'uri' });
    expect(release.environment('api-gateway')).toMatchObject({
      KAFKA_BROKERS: `${one('Kafka').metadata.name}-kafka-bootstrap:9093`,
      KAFKA_TLS: 'true',
      KAFKA_CA_FILE: '/etc/svc/kafka/ca.crt',
      KAFKA_USERNAME: one('KafkaUser').metadata.name,
      KAFKA_SASL: one('KafkaUser').spec.authentication.type,
    });
    const from = ours(release, 'billing-ledger');
    const server = (labels) => ({ namespace: 'platform', labels });
    const reach = (labels, port) => mayReach(release, { from, to: server(labels), ports: [port] });
    expect(reach({ 'cnpg.io/cluster': one('Cluster').metadata.name }, 5432)).toBe(true);
    expect(reach({ 'strimzi.io/cluster': one('Kafka').metadata.name }, 9093)).toBe(true);
    expect(reach({ app: 'other' }, 5432)).toBe(false);
  });

  it('reads all secrets from existing Secrets', async () => {
    const release = await Release.of(await valuesOf(name));
    expect(release.all('Secret')).toEqual([]);
  });
});
