import { beforeAll, describe, expect, it } from 'vitest';
import { EXTERNAL, Release, SERVICES, renderText } from './chart.mjs';
import { LEGITIMATE_OBJECTS } from './legitimate-objects.mjs';
import { LEGITIMATE_PODS } from './legitimate-pods.mjs';

const LEGITIMATE = [...LEGITIMATE_PODS, ...LEGITIMATE_OBJECTS];

describe('the chart accepts', () => {
  it.each(LEGITIMATE)('%s', async (...[, values, actual, expected]) => {
    // PostgreSQL is given by its parts or by a Secret with its URL.
    const servers = values.postgres ? { ...EXTERNAL, postgres: undefined } : EXTERNAL;
    const release = await Release.of({ ...servers, ...values });
    expect(actual(release)).toEqual(expected);
  });

  it('at least 75 values, each named once', () => {
    expect(new Set(LEGITIMATE.map(([what]) => what)).size).toBe(LEGITIMATE.length);
    expect(LEGITIMATE.length).toBeGreaterThanOrEqual(75);
  });
});

const { kafka } = EXTERNAL;

/** What operators want and the chart still refuses, because of what the processes can do; see its README. */
const REFUSED = [
  // They authenticate to brokers by user and password, by certificate or by a token of OAuth.
  ['Kafka by IAM', { kafka: { ...kafka, sasl: 'aws_msk_iam' } }, 'sasl'],
  // Limits and alerts count replicas.
  ['a service as a DaemonSet', { services: { 'api-gateway': { kind: 'DaemonSet' } } }, 'kind'],
];

it('pods may reach Sentinels and the servers that they name', async () => {
  const redis = { url: 'redis+sentinel://:p@a:26379,b:26379/main', sentinelPort: 26_379 };
  const release = await Release.of({ ...EXTERNAL, redis });
  const { egress } = release.get('NetworkPolicy', 'rate-limiter').spec;
  expect(egress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual(
    expect.arrayContaining([6379, 26_379]),
  );
});

it.each(REFUSED)('the chart still refuses %s', async (_what, values, word) => {
  await expect(renderText({ ...EXTERNAL, ...values })).rejects.toThrow(word);
});

describe('an overlay', () => {
  const podTemplate = { metadata: { labels: { 'app.kubernetes.io/component': 'other', mine: 'yes' } } };
  let release;
  beforeAll(async () => {
    release = await Release.of({ ...EXTERNAL, defaults: { podTemplate } });
  });

  it.each(SERVICES)('cannot take the pods of %s away from its Service', (name) => {
    const { metadata } = release.pod(name);
    expect(metadata.labels).toMatchObject({ ...release.get('Service', name).spec.selector, mine: 'yes' });
  });

  it('of one service changes no other object', async () => {
    const [before, after] = await Promise.all([
      Release.of(EXTERNAL),
      Release.of({
        ...EXTERNAL,
        services: { 'rate-limiter': { objects: { Deployment: { spec: { minReadySeconds: 7 } } } } },
      }),
    ]);
    const others = ({ objects }) => objects.filter(({ metadata }) => metadata.name !== 'svc-rate-limiter');
    expect(others(after)).toEqual(others(before));
    expect(after.get('Deployment', 'rate-limiter').spec.minReadySeconds).toBe(7);
  });
});

describe('without hooks', () => {
  it('a Job gets another name when its pod changes, since Jobs are immutable', async () => {
    const names = async (tag) => {
      const release = await Release.of({ ...EXTERNAL, hooks: { enabled: false }, image: { tag } });
      return release.all('Job').map(({ metadata }) => metadata.name);
    };
    const [one, same, other] = await Promise.all(['1', '1', '2'].map(names));
    expect(one).toEqual(same);
    for (const name of one) {
      expect(name).toMatch(/^svc-(migrate|topics|first-account)-[0-9a-f]{8}$/);
      expect(other).not.toContain(name);
    }
  });

  it('Jobs read the Secret of the release, and there is none for hooks', async () => {
    const release = await Release.of({
      ...EXTERNAL,
      hooks: { enabled: false },
      postgres: { url: 'postgres://svc:x@db/svc' },
    });
    expect(release.find('Secret', 'hooks')).toBeUndefined();
    const migrate = release.all('Job').find(({ metadata }) => metadata.name.startsWith('svc-migrate'));
    const [{ env }] = migrate.spec.template.spec.containers;
    expect(env.find(({ name }) => name === 'DATABASE_URL').valueFrom.secretKeyRef.name).toBe(
      'svc-connections',
    );
  });
});
