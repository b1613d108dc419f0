import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXTERNAL, SERVICES } from '../chart.mjs';
import { Cluster, Installed } from './cluster.mjs';
import { OWN, SECRETS, withReason } from './values.mjs';

let cluster;
let release;

beforeAll(async () => {
  cluster = await Cluster.start();
  await cluster.makeNamespace('platform', SECRETS);
  release = new Installed(cluster, 'platform');
});

afterAll(() => cluster?.stop());

/** The event reason for which the pods of each service were created. */
async function reasons() {
  const found = await release.deployments();
  return [...new Set(found.map(({ spec }) => spec.template.metadata.annotations.reason))];
}

/** The pods of each deployment. Without a catalogue of its own, a release has one model simulator. */
const PODS = { ...Object.fromEntries(SERVICES.map((name) => [`svc-${name}`, 2])), 'svc-model-simulator': 1 };

/** The ready pods of each deployment. */
const readyPods = (deployments) =>
  Object.fromEntries(deployments.map(({ metadata, status }) => [metadata.name, status.readyReplicas]));

const job = (name) => release.api.get(`${release.path('batch/v1', 'jobs')}/svc-${name}`);

it('is installed after its tables and topics, without a warning of the API server', async () => {
  const history = await release.api.history(release.path('batch/v1', 'jobs'), 'svc-migrate');
  const output = await release.install(withReason(EXTERNAL, 'first'));
  expect(output).toContain('deployed');
  expect(output).not.toMatch(/warn/i);
  const finished = history.versions.find(({ status }) => status.succeeded === 1);
  history.end();
  const deployments = await release.deployments();
  expect(readyPods(deployments)).toEqual(PODS);
  for (const { metadata } of deployments) {
    expect(BigInt(metadata.resourceVersion)).toBeGreaterThan(BigInt(finished.metadata.resourceVersion));
    expect(Date.parse(metadata.creationTimestamp)).toBeGreaterThanOrEqual(
      Date.parse(finished.status.completionTime),
    );
  }
});

it('helm test sends a paid request, and fails if the request fails', async () => {
  expect(await release.helm(['test', 'svc', '--timeout', '8m'])).toContain('Succeeded');
  cluster.kubelet.exitCodes = { test: 1 };
  await expect(release.helm(['test', 'svc', '--timeout', '8m'])).rejects.toThrow('svc-test');
  cluster.kubelet.exitCodes = {};
});

it('an upgrade replaces every pod, without fewer ready pods in between', async () => {
  const history = await release.api.history(release.path('apps/v1', 'deployments'), 'svc-api-gateway');
  await release.upgrade(withReason(EXTERNAL, 'second'));
  history.end();
  expect(await reasons()).toEqual(['second']);
  expect(history.versions.length).toBeGreaterThan(2);
  for (const { status } of history.versions) expect(status.readyReplicas).toBeGreaterThanOrEqual(2);
});

it('a failing migration stops an upgrade before anything else is changed', async () => {
  const before = await release.deployments();
  cluster.kubelet.exitCodes = { migrate: 1 };
  await expect(release.upgrade(withReason(EXTERNAL, 'third'))).rejects.toThrow('pre-upgrade');
  cluster.kubelet.exitCodes = {};
  const after = await release.deployments();
  const generations = (found) =>
    found.map(({ metadata }) => `${metadata.uid} ${metadata.generation}`).toSorted();
  expect(generations(after)).toEqual(generations(before));
  expect(await reasons()).toEqual(['second']);
  expect((await release.revisions()).at(-1).status).toBe('failed');
  // Kept for inspection.
  expect((await job('migrate')).status.failed).toBeGreaterThan(0);
});

it('an unknown value is refused before anything is sent', async () => {
  const before = (await release.revisions()).length;
  await expect(release.upgrade({ ...EXTERNAL, ingres: { enabled: true } })).rejects.toThrow('ingres');
  expect(await release.revisions()).toHaveLength(before);
});

it('an upgrade after a failed one succeeds', async () => {
  await release.upgrade(withReason(EXTERNAL, 'fourth'));
  expect(await reasons()).toEqual(['fourth']);
});

it('is rolled back by one command', async () => {
  await release.helm(['rollback', 'svc', '2', '--wait', '--timeout', '10m']);
  expect(await reasons()).toEqual(['second']);
  expect((await release.revisions()).at(-1)).toMatchObject({ status: 'deployed' });
});

it('hooks get the connections of a release that stores them in its own Secrets', async () => {
  await cluster.makeNamespace('own');
  const own = new Installed(cluster, 'own');
  await own.install(OWN);
  expect(readyPods(await own.deployments())).toEqual(PODS);
  const secrets = await own.api.items(own.path('v1', 'secrets'));
  expect(secrets.map(({ metadata }) => metadata.name)).not.toContain('svc-hooks');
});

it('is uninstalled completely, except for objects marked to be kept', async () => {
  await release.helm(['uninstall', 'svc', '--wait', '--timeout', '10m']);
  expect(await release.deployments()).toEqual([]);
  for (const resource of ['services', 'configmaps', 'serviceaccounts', 'secrets']) {
    const left = await release.api.items(release.path('v1', resource));
    const ours = left.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'] === 'svc');
    expect(ours.map(({ metadata }) => metadata.name)).toEqual(resource === 'configmaps' ? ['svc-test'] : []);
  }
});
