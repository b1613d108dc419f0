import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { EXTERNAL, Release, SERVICES, renderText } from './chart.mjs';

const { kafka, postgres, redis, tokens } = EXTERNAL;

it('renders with its defaults and servers that run elsewhere', async () => {
  const release = await Release.of();
  for (const name of SERVICES) expect(release.get('Deployment', name).spec.replicas).toBe(2);
});

it.each([
  ['an unknown value', { ingres: { enabled: true } }, 'ingres'],
  ['an unknown service', { services: { gateway: { replicas: 3 } } }, 'gateway'],
  ['a misspelt part of a service', { services: { 'api-gateway': { replica: 3 } } }, 'replica'],
  ['a value of the wrong type', { services: { 'api-gateway': { replicas: 'three' } } }, 'replicas'],
  [
    'a setting that the process does not have',
    { services: { 'rate-limiter': { settings: { GATEWAY_KEY_CACHE_MS: 5 } } } },
    'GATEWAY_KEY_CACHE_MS',
  ],
  [
    'a setting that the chart owns',
    { services: { 'rate-limiter': { settings: { REDIS_URL: 'x' } } } },
    'REDIS_URL',
  ],
  [
    'a key that signs payments',
    { services: { 'x402-payments': { settings: { X402_EVM_SIGNER_KEY: '0x1' } } } },
    'X402_EVM_SIGNER_KEY',
  ],
  [
    'a default setting that not all services have',
    { defaults: { settings: { GATEWAY_KEY_CACHE_MS: 5 } } },
    'GATEWAY',
  ],
  ['a drain time above the maximum', { services: { 'api-gateway': { drainSeconds: 601 } } }, 'drainSeconds'],
  ['a URL of another kind of server', { redis: { url: 'http://redis:6379' } }, 'redis/url'],
  ['brokers without ports', { kafka: { brokers: 'kafka' } }, 'brokers'],
  ['an invalid digest', { image: { digest: 'latest' } }, 'digest'],
])('refuses %s', async (_what, values, word) => {
  await expect(renderText({ ...EXTERNAL, ...values })).rejects.toThrow(word);
});

it.each([
  ['PostgreSQL', { kafka, redis, tokens }, 'set postgres.url or postgres.existingSecret.name'],
  ['Redis', { kafka, postgres, tokens }, 'set redis.url or redis.existingSecret.name'],
  [
    'the metrics for autoscaling',
    { ...EXTERNAL, defaults: { autoscaling: { enabled: true, max: 3, activeRequests: 100 } } },
    'needs keda.prometheusUrl',
  ],
  ['Kafka', { postgres, redis, tokens }, 'set kafka.brokers'],
])('refuses to render without %s, and names the value to set', async (_what, values, hint) => {
  await expect(renderText(values)).rejects.toThrow(hint);
});

const valuesOf = async (name) =>
  parse(await readFile(new URL(`../envs/${name}.yaml`, import.meta.url), 'utf8'));

it.each([
  ['the defaults', async () => ({})],
  ['deploy/envs/dev.yaml', () => valuesOf('dev')],
])('with %s it runs as one process that needs no other server', async (_what, values) => {
  const release = await Release.of(await values());
  expect(release.objects.filter(({ spec }) => spec?.template).map(({ metadata }) => metadata.name)).toEqual([
    'svc-all',
  ]);
  expect(release.all('Job')).toEqual([]);
});

it('mounts the catalogue of the repository until another one is set', async () => {
  const text = await readFile(new URL('../../catalog.yaml', import.meta.url), 'utf8');
  for (const values of [{}, EXTERNAL])
    expect((await Release.of(values)).get('ConfigMap', 'catalog').data['catalog.yaml']).toBe(text);
  const given = await Release.of({ ...EXTERNAL, catalog: { content: 'models: []' } });
  expect(given.get('ConfigMap', 'catalog').data['catalog.yaml']).toBe('models: []');
  const named = await Release.of({ ...EXTERNAL, catalog: { existingConfigMap: 'ours' } });
  expect(named.find('ConfigMap', 'catalog')).toBeUndefined();
});

it('opens a first account after an install, and none in production', async () => {
  const job = (await Release.of()).get('Job', 'first-account');
  expect(job.metadata.annotations['helm.sh/hook']).toBe('post-install');
  expect((await Release.of(await valuesOf('prod'))).find('Job', 'first-account')).toBeUndefined();
});

it.each([
  ['auto', true, false],
  [true, true, true],
  [false, false, false],
])(
  'with simulator.enabled %s it runs without a catalogue: %s, beside one: %s',
  async (enabled, alone, beside) => {
    const simulates = async (values) =>
      (await Release.of({ ...EXTERNAL, simulator: { enabled }, ...values })).find(
        'Deployment',
        'model-simulator',
      ) !== undefined;
    expect(await simulates({})).toBe(alone);
    expect(await simulates({ catalog: { content: 'models: []' } })).toBe(beside);
  },
);
