import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DATA, EXTERNAL, SERVICES } from '../chart.mjs';
import { until } from './api.mjs';
import { Cluster, Installed } from './cluster.mjs';
import { EXTENDED, POD, REFERRED } from '../extensions.mjs';
import { CATALOG, OF_OPERATORS, SECRETS } from './values.mjs';

const KINDS = {
  'sigs.k8s.io/gateway-api': ['httproutes'],
  'github.com/prometheus-operator/prometheus-operator': ['servicemonitors', 'prometheusrules'],
  'github.com/kedacore/keda/v2': ['scaledobjects'],
  'github.com/cloudnative-pg/cloudnative-pg': ['clusters', 'scheduledbackups'],
};

let cluster;

beforeAll(async () => {
  cluster = await Cluster.start();
  for (const [module, names] of Object.entries(KINDS)) await cluster.makeKinds(module, names);
  await cluster.makeVolumes(12);
});

afterAll(() => cluster?.stop());

it('the API server accepts the database of the data chart, and refuses one without instances', async () => {
  await cluster.makeNamespace('data');
  // No Go module describes Strimzi's kinds.
  const values = { kafka: { enabled: false }, postgres: { backup: { objectStore: 'store' } } };
  await cluster.helm('data', ['install', 'svc-data', DATA], values);
  const path = '/apis/postgresql.cnpg.io/v1/namespaces/data/clusters';
  const [database] = await cluster.api.items(path);
  expect(database.metadata.name).toBe('svc-data-postgres');
  expect(database.spec.postgresql.synchronous).toMatchObject({ method: 'any', number: 1 });
  const wrong = { ...database, metadata: { name: 'wrong' }, spec: { ...database.spec, instances: 0 } };
  expect((await cluster.api.send('POST', path, { body: wrong })).body.message).toContain('spec.instances');
});

it('the API server accepts the routes, monitors, rules and scalers of the platform', async () => {
  await cluster.makeNamespace('platform', SECRETS);
  const release = new Installed(cluster, 'platform');
  await release.install({
    ...EXTERNAL,
    httpRoute: { enabled: true, hostnames: ['api.example'], parentRefs: [{ name: 'public' }] },
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    keda: { prometheusUrl: 'http://prometheus:9090' },
    services: {
      'billing-ledger': { autoscaling: { enabled: true, max: 6, kafkaLag: 10_000 } },
      'inference-router': { autoscaling: { enabled: true, activeRequests: 400 } },
    },
  });
  const count = async (group, resource) => (await release.api.items(release.path(group, resource))).length;
  expect(await count('gateway.networking.k8s.io/v1', 'httproutes')).toBe(1);
  expect(await count('monitoring.coreos.com/v1', 'servicemonitors')).toBeGreaterThan(0);
  expect(await count('monitoring.coreos.com/v1', 'prometheusrules')).toBeGreaterThan(0);
  expect(await count('keda.sh/v1alpha1', 'scaledobjects')).toBe(2);
});

describe('every extension point at once', () => {
  let release;
  const upgradedTo = (reason) => ({
    ...EXTENDED,
    defaults: { ...EXTENDED.defaults, podAnnotations: { reason } },
  });

  beforeAll(async () => {
    const { secrets, configmaps } = REFERRED;
    await cluster.makeNamespace('extended', { ...SECRETS, ...secrets }, configmaps);
    await cluster.api.create('/api/v1/namespaces/extended/serviceaccounts', {
      metadata: { name: POD.serviceAccountName },
    });
    release = new Installed(cluster, 'extended');
  });

  it('is accepted by the API server without a warning, and every pod has it', async () => {
    expect(await release.install(upgradedTo('first'))).not.toMatch(/warn/i);
    await release.helm(['test', 'svc', '--timeout', '8m']);
    const pods = await release.api.items(release.path('v1', 'pods'));
    const names = pods.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']);
    const others = ['browser', 'model-simulator', 'first-account', 'test'];
    expect(new Set(names)).toEqual(new Set([...SERVICES, ...others]));
    for (const { metadata, spec } of pods) {
      expect(metadata.labels).toMatchObject(POD.podLabels);
      expect(spec.serviceAccountName).toBe(POD.serviceAccountName);
      expect(spec.initContainers.map(({ name }) => name)).toEqual(['prepare', 'relay']);
      expect(spec.securityContext).not.toHaveProperty('runAsUser');
      expect(spec.containers[0].env).toContainEqual(POD.extraEnv[0]);
    }
  });

  it('does not replace gateways below the partition in an upgrade', async () => {
    await release.upgrade(upgradedTo('second'));
    const gateways = await release.pods('api-gateway');
    const reasons = gateways.map(({ metadata }) => [metadata.name, metadata.annotations.reason]).toSorted();
    expect(reasons).toEqual([
      ['svc-api-gateway-0', 'first'],
      ['svc-api-gateway-1', 'second'],
    ]);
  });
});

it.each([
  ['dev', 'with nothing else', {}],
  ['staging', 'beside the servers that it names', OF_OPERATORS],
  ['prod', 'beside the servers that it names', OF_OPERATORS],
])('deploy/envs/%s.yaml is installed %s', async (name, _beside, secrets) => {
  const values = parse(await readFile(new URL(`../../envs/${name}.yaml`, import.meta.url), 'utf8'));
  await cluster.makeNamespace(name, secrets, CATALOG);
  const release = new Installed(cluster, name);
  await release.install(values);
  // An autoscaler's minimum may exceed the initial number of replicas.
  const ready = await until('all that it wants is ready', async () => {
    const found = [
      ...(await release.deployments()),
      ...(await release.api.items(release.path('apps/v1', 'statefulsets'))),
    ];
    return found.every(({ spec, status }) => status.readyReplicas === spec.replicas) && found;
  });
  const names = name === 'dev' ? ['svc-all'] : SERVICES.map((service) => `svc-${service}`);
  expect(ready.map(({ metadata }) => metadata.name).toSorted()).toEqual(names.toSorted());
});
