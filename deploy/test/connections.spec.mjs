// All processes together open no more connections to PostgreSQL than it accepts.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHART, DATA, EXTERNAL, Release, SETTINGS, renderText } from './chart.mjs';

const parsed = async (path) => parse(await readFile(path, 'utf8'));
const valuesOf = (name) => parsed(`${CHART}/../../envs/${name}.yaml`);
const RESERVE = 10;

/** The most connections of a release while an upgrade replaces its pods. */
function connectionsOf(release) {
  const counts = release.pods().map(({ kind, name }) => {
    const { DATABASE_CONNECTIONS: each } = release.environment(name);
    if (each === undefined) return 0;
    const { replicas } = release.get(kind, name).spec;
    const most = replicas ?? release.get('HorizontalPodAutoscaler', name).spec.maxReplicas;
    const pods = kind === 'StatefulSet' ? most : 2 * most;
    return pods * (Number(each) + (name === 'billing-ledger' ? 1 : 0));
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

const { postgres: server } = await parsed(`${DATA}/values.yaml`);

describe.each(['prod', 'staging'])('deploy/envs/%s.yaml', (name) => {
  it.each([
    ['', {}],
    [' with videos', { mediaStorage: { url: 'https://s3', bucket: 'media', existingSecret: { name: 's' } } }],
  ])('opens no more connections%s than the chart `data` allows', async (_what, values) => {
    const release = await Release.of({ ...(await valuesOf(name)), ...values });
    expect(connectionsOf(release)).toBeGreaterThan(0);
    expect(connectionsOf(release) + RESERVE).toBeLessThanOrEqual(server.maxConnections);
  });
});

it('the chart allows as many connections as the chart `data`', async () => {
  const { postgres } = await parsed(`${CHART}/values.yaml`);
  expect(postgres.maxConnections).toBe(server.maxConnections);
});

it('every process with a database has a number of connections, and the pod of no other', () => {
  for (const [name, { needed, optional }] of Object.entries(SETTINGS)) {
    if (['migrate', 'all'].includes(name)) continue;
    expect([name, optional.includes('DATABASE_CONNECTIONS')]).toEqual([
      name,
      needed.includes('DATABASE_URL'),
    ]);
  }
});

const few = (own) => ({ ...EXTERNAL, postgres: { ...EXTERNAL.postgres, maxConnections: 134 }, ...own });

it('renders up to the last connection, and not beyond it', async () => {
  // Two replicas each of gateway and payments with 10 connections, and of the ledger with 11, all twice.
  expect(connectionsOf(await Release.of(few()))).toBe(134 - RESERVE);
  const ledgers = few({ services: { 'billing-ledger': { databaseConnections: 11 } } });
  await expect(renderText(ledgers)).rejects.toThrow('up to 138 could be opened');
});

it.each([
  ['replicas', { replicas: 3 }],
  ['autoscaling', { autoscaling: { enabled: true, max: 3 } }],
])('counts %s, and names what to change', async (_what, own) => {
  const values = few({ services: { 'api-gateway': own } });
  await expect(renderText(values)).rejects.toThrow(/api-gateway 6 x 10.*databaseConnections/);
});

it('counts pods of a StatefulSet once, since the previous one has ended', async () => {
  const own = { replicas: 4, persistence: { enabled: true } };
  expect(connectionsOf(await Release.of(few({ services: { 'api-gateway': own } })))).toBe(134 - RESERVE);
});
