import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXTERNAL, SERVICES } from '../chart.mjs';
import { until } from './api.mjs';
import { Cluster, Installed } from './cluster.mjs';
import { SECRETS } from './values.mjs';

let cluster;
let release;

beforeAll(async () => {
  cluster = await Cluster.start();
  await cluster.makeNamespace('platform', SECRETS);
  release = new Installed(cluster, 'platform');
  await release.install({ ...EXTERNAL, priorityClass: { create: true } });
});

afterAll(() => cluster?.stop());

it('its pods run in a namespace that refuses less restricted pods', async () => {
  const bare = {
    metadata: { name: 'bare' },
    spec: { containers: [{ name: 'bare', image: 'bare' }] },
  };
  const { status, body } = await release.api.send('POST', release.path('v1', 'pods'), { body: bare });
  expect(status).toBe(403);
  expect(body.message).toContain('violates PodSecurity "restricted');
});

it('the replicas of a service are in different zones', async () => {
  for (const name of SERVICES) {
    const nodes = (await release.pods(name)).map(({ spec }) => spec.nodeName);
    expect([name, new Set(nodes).size]).toEqual([name, 2]);
  }
});

it('only one replica of a service may be evicted at a time', async () => {
  const evict = async ({ metadata: { name } }) => {
    const path = `${release.path('v1', 'pods')}/${name}/eviction`;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    return (await release.api.send('POST', path, { body })).status;
  };
  const budget = () =>
    release.api.get(`${release.path('policy/v1', 'poddisruptionbudgets')}/svc-rate-limiter`);
  await until('one may go', async () => (await budget()).status.disruptionsAllowed === 1);
  const [first, second] = await release.pods('rate-limiter');
  cluster.kubelet.isHeld = true;
  try {
    expect(await evict(first)).toBe(201);
    await until('the budget knows', async () => (await budget()).status.disruptionsAllowed === 0);
    expect(await evict(second)).toBe(429);
  } finally {
    cluster.kubelet.isHeld = false;
  }
  await until('one may go again', async () => (await budget()).status.disruptionsAllowed === 1);
  expect(await evict(second)).toBe(201);
});

it('its pods have a priority, and no token of the API server', async () => {
  for (const { spec } of await release.pods('api-gateway')) {
    expect(spec.priority).toBe(100_000);
    expect(spec.volumes.filter(({ projected }) => projected)).toEqual([]);
  }
});

it.each([
  ['get', 'secrets'],
  ['list', 'pods'],
  ['create', 'pods'],
])('its account may not %s %s', async (verb, resource) => {
  const review = await release.api.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: {
      user: 'system:serviceaccount:platform:svc',
      resourceAttributes: { namespace: 'platform', verb, resource },
    },
  });
  expect(review.status.allowed).toBe(false);
});

it('the API server refuses an unknown member', async () => {
  const { spec } = await release.deployment('api-gateway');
  const [container] = spec.template.spec.containers;
  const body = { spec: { template: { spec: { containers: [{ name: container.name, livenesProbe: {} }] } } } };
  const path = `${release.path('apps/v1', 'deployments')}/svc-api-gateway?fieldValidation=Strict`;
  const type = 'application/strategic-merge-patch+json';
  const { status, body: answer } = await release.api.send('PATCH', path, { body, type });
  expect([status, answer.message]).toEqual([422, expect.stringContaining('livenesProbe')]);
});
