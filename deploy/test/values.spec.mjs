import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALL, EXTERNAL, Release, SERVICES, renderText } from './chart.mjs';
import { ROOT, documented } from './documented.mjs';

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
    'svc-catalog',
  ]);
  expect(release.all('Job').map(({ metadata }) => metadata.name)).toEqual(['svc-catalog']);
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

const CATALOGS = {
  none: {},
  own: { catalog: { content: 'models: [{ id: m, backends: [{ url: http://m, model: m }] }]' } },
  'a ConfigMap': { catalog: { existingConfigMap: 'ours' } },
  'simulated models': {
    catalog: { content: 'models: [{ id: m, backends: [{ kind: simulator, model: m }] }]' },
  },
  'a simulated search': { catalog: { content: 'search: { providers: [{ kind: simulator }] }' } },
};
const SHAPES = {
  'servers elsewhere': { ...EXTERNAL, simulator: {} },
  'deploy/envs/prod.yaml': { ...(await valuesOf('prod')), catalog: {}, simulator: {} },
  'deploy/envs/staging.yaml': { ...(await valuesOf('staging')), catalog: {}, simulator: {} },
  'one process on servers elsewhere': { ...EXTERNAL, ...ALL },
  'one process': {},
};

/** What a release with these values is. */
async function outcomeOf(values) {
  try {
    const text = await renderText(values);
    return text.includes('app.kubernetes.io/component: model-simulator') ? 'simulated' : 'rendered';
  } catch ({ message }) {
    if (message.includes('set the catalogue of your models')) return 'refused without a catalogue';
    return message.includes('simulated entries') ? 'refused with simulated models' : message;
  }
}

function wanted({ shape, catalog, enabled }) {
  // The single process contains its own simulator.
  if (enabled === true) return shape.startsWith('one process') ? 'rendered' : 'simulated';
  if (catalog.includes('simulated')) return 'refused with simulated models';
  const isTrial = enabled === 'auto' && shape === 'one process';
  return catalog === 'none' && !isTrial ? 'refused without a catalogue' : 'rendered';
}

describe.each(Object.keys(SHAPES))('a release with %s', (shape) => {
  const cases = ['auto', true, false].flatMap((enabled) =>
    Object.keys(CATALOGS).map((catalog) => [enabled, catalog]),
  );

  it.each(cases)(
    'and simulator.enabled %s, with the catalogue %s, has simulated models only as a trial',
    async (enabled, catalog) => {
      const values = { ...SHAPES[shape], ...CATALOGS[catalog], simulator: { enabled } };
      expect(await outcomeOf(values)).toBe(wanted({ shape, catalog, enabled }));
    },
  );
});

it('an upgrade command of the documentation names a catalogue, or values that name one', async () => {
  for (const [, command] of await documented()) {
    if (!/ (?:install|upgrade) svc .*charts\/platform/.test(command)) continue;
    const [, file] = /--values (\S+)/.exec(command) ?? [];
    const values = file ? parse(await readFile(ROOT + file, 'utf8')) : {};
    const isTrial = !/postgres|prod|staging/.test(command);
    expect(command.includes('catalog.') || values.catalog !== undefined || isTrial).toBe(true);
  }
});

it('refuses two catalogues at once', async () => {
  const both = { content: 'models: []', existingConfigMap: 'ours' };
  await expect(renderText({ ...EXTERNAL, catalog: both })).rejects.toThrow('which one is meant');
});
