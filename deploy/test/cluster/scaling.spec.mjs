import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHART, EXTERNAL } from '../chart.mjs';
import { until } from './api.mjs';
import { Cluster, Installed } from './cluster.mjs';
import { SECRETS } from './values.mjs';

const SCALED = {
  ...EXTERNAL,
  services: { 'rate-limiter': { replicas: 3, autoscaling: { enabled: true, min: 2, max: 5 } } },
};
const FIXED = { ...EXTERNAL, services: { 'rate-limiter': { replicas: 3 } } };

let cluster;
let release;

const scaler = () =>
  release.api.get(`${release.path('autoscaling/v2', 'horizontalpodautoscalers')}/svc-rate-limiter`);
const replicas = async () => (await release.deployment('rate-limiter')).spec.replicas;
const versions = () => release.api.history(release.path('apps/v1', 'deployments'), 'svc-rate-limiter');

beforeAll(async () => {
  cluster = await Cluster.start();
  await cluster.makeNamespace('platform', SECRETS);
  release = new Installed(cluster, 'platform');
  // Half of its CPU request; the target is 70 %.
  cluster.metrics.cpu = '125m';
  await release.install(FIXED);
});

afterAll(() => cluster?.stop());

it('a service that was scaled by hand keeps its replicas when autoscaling is enabled', async () => {
  expect(await replicas()).toBe(3);
  await release.api.patch(
    `${release.path('apps/v1', 'deployments')}/svc-rate-limiter/scale`,
    { spec: { replicas: 4 } },
    'application/merge-patch+json',
  );
  const history = await versions();
  await release.upgrade(SCALED);
  history.end();
  expect(history.versions.length).toBeGreaterThan(0);
  for (const { spec } of history.versions) expect(spec.replicas).toBeGreaterThanOrEqual(3);
});

it('its autoscaler reads and reports the usage of its pods', async () => {
  await until('the autoscaler is active', async () => {
    const { status } = await scaler();
    const is = (type) => status.conditions?.some((one) => one.type === type && one.status === 'True');
    return is('AbleToScale') && is('ScalingActive');
  });
  const { status } = await scaler();
  expect(status.currentMetrics).toMatchObject([{ resource: { current: { averageUtilization: 50 } } }]);
});

it('more load leads to more replicas, up to the maximum', async () => {
  cluster.metrics.cpu = '2';
  await until('it has the most replicas', async () => (await replicas()) === 5);
  await until('they are ready', async () => (await release.pods('rate-limiter')).length === 5);
  expect((await scaler()).status).toMatchObject({ desiredReplicas: 5 });
});

it('an upgrade does not change the replicas that an autoscaler has set', async () => {
  const history = await versions();
  await release.upgrade({ ...SCALED, defaults: { podAnnotations: { reason: 'other' } } });
  history.end();
  expect(history.versions.length).toBeGreaterThan(0);
  for (const { spec } of history.versions) expect(spec.replicas).toBe(5);
});

it('autoscaling can be disabled again, by force once the autoscaler is gone', async () => {
  await expect(release.upgrade(FIXED)).rejects.toThrow('conflict');
  const { metadata } = await scaler();
  await release.api.ask(
    'DELETE',
    `${release.path('autoscaling/v2', 'horizontalpodautoscalers')}/${metadata.name}`,
  );
  await release.helm(['upgrade', 'svc', CHART, '--wait', '--timeout', '10m', '--force-conflicts'], FIXED);
  expect(await replicas()).toBe(3);
});
