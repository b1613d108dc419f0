// Checks Helm's commands in the documentation, and the notes that Helm prints, against the chart that they
// render.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALL, CHART, EXTERNAL, Release } from './chart.mjs';
import { ROOT, documented } from './documented.mjs';
import { EXTENDED } from './extensions.mjs';
import { tool } from './tools.mjs';

const COMMANDS = await documented();
const PRODUCTION = parse(await readFile(`${ROOT}deploy/envs/prod.yaml`, 'utf8'));

const minutes = (text) => Number(/--timeout (\d+)m\b/.exec(text)?.[1] ?? 0);

/** The values that a command names, and the servers that it requires. */
async function valuesOf(command) {
  const [, file] = /--values (\S+)/.exec(command) ?? [];
  return file ? parse(await readFile(ROOT + file, 'utf8')) : EXTERNAL;
}

const startSeconds = ({ startupProbe: { periodSeconds, failureThreshold } }) =>
  periodSeconds * failureThreshold;

/**
 * The maximum time that Helm waits for a workload: on install only its start, on upgrade each replica in
 * turn.
 */
function secondsOf(release, { kind, metadata, spec }, verb) {
  if (kind === 'Job') return spec.activeDeadlineSeconds;
  const scaler = [...release.all('HorizontalPodAutoscaler'), ...release.all('ScaledObject')].find(
    (one) => one.metadata.name === metadata.name,
  );
  const replicas = scaler ? (scaler.spec.maxReplicas ?? scaler.spec.maxReplicaCount) : spec.replicas;
  const { containers, terminationGracePeriodSeconds } = spec.template.spec;
  const start = startSeconds(containers[0]);
  const inTurn = verb !== 'install' || spec.podManagementPolicy === 'OrderedReady';
  const end = kind === 'StatefulSet' && verb !== 'install' ? terminationGracePeriodSeconds : 0;
  return (inTurn ? replicas : 1) * (start + end);
}

const neededSeconds = (release, verb) =>
  Math.max(
    ...['Job', 'Deployment', 'StatefulSet']
      .flatMap((kind) => release.all(kind))
      .map((one) => secondsOf(release, one, verb)),
  );

describe('the documentation', () => {
  it('has commands for the chart with its defaults, for trials, and for production', () => {
    const platform = COMMANDS.filter(([, command]) => command.includes('charts/platform'));
    const files = platform.map(([, command]) => /--values (\S+)/.exec(command)?.[1]);
    for (const file of [undefined, 'deploy/envs/dev.yaml', 'deploy/envs/prod.yaml'])
      expect(files).toContain(file);
    expect(COMMANDS.map(([, command]) => /(install|upgrade|rollback) svc/.exec(command)[1])).toEqual(
      expect.arrayContaining(['install', 'upgrade', 'rollback']),
    );
  });

  it.each(COMMANDS.filter(([, command]) => command.includes(' deploy/charts/platform')))(
    '%s: waits as long as the release may need: %s',
    async (_file, command) => {
      expect(command).toContain('--wait');
      const release = await Release.of(await valuesOf(command));
      const [, verb] = /\b(install|upgrade) svc/.exec(command);
      expect(minutes(command) * 60).toBeGreaterThan(neededSeconds(release, verb));
    },
  );

  it.each(COMMANDS.filter(([, command]) => command.includes('rollback')))(
    '%s: waits for a rollback as long as for the upgrade: %s',
    (file, command) => {
      const upgrade = COMMANDS.find(([where, one]) => where === file && one.includes(' upgrade '));
      expect(command).toContain('--wait');
      expect(minutes(command)).toBe(minutes(upgrade[1]));
    },
  );

  it.each(COMMANDS.filter(([, command]) => /charts\/data .*--wait/.test(command)))(
    '%s: waits longer for servers than the default: %s',
    (_file, command) => {
      expect(minutes(command)).toBeGreaterThan(5);
    },
  );
});

describe('the notes', () => {
  const notes = async (values) => {
    const args = ['install', 'svc', CHART, '--namespace', 'platform', '--dry-run=client', '--values', '-'];
    return (await tool('helm', args, JSON.stringify(values))).split('\nNOTES:\n')[1];
  };

  it.each([
    ['the defaults', EXTERNAL],
    ['one process', ALL],
    ['every extension point', EXTENDED],
    ['production', PRODUCTION],
  ])(
    'print a --timeout that is long enough, and too long by less than two minutes, with %s',
    async (_what, values) => {
      const needed = neededSeconds(await Release.of(values), 'upgrade');
      const given = minutes(await notes(values)) * 60;
      expect(given).toBeGreaterThan(needed);
      // The deadline of a disabled Job counts as well.
      expect(given).toBeLessThan(Math.max(needed, 600) + 121);
    },
  );

  it('print the names of the Secret and the Service, and the ports', async () => {
    const text = await notes({
      ...EXTERNAL,
      services: { 'api-gateway': { port: 8080, operatorPort: 8081 } },
    });
    expect(text).toContain('port-forward service/svc-api-gateway 8080 8081');
    expect(text).toContain('get secret tokens ');
    expect(text).toContain('http://127.0.0.1:8080/api/v1/chat/completions');
    expect(text).toContain('http://127.0.0.1:8081/operator/v1/');
    expect(await notes(ALL)).toContain('port-forward service/svc-all 3000 3001');
  });

  it('print the URL for clients outside the cluster, or that they cannot reach it yet', async () => {
    expect(await notes(EXTENDED)).toContain('https://api.example/api/v1, https://api.example.org/api/v1');
    expect(await notes(EXTERNAL)).toContain('Not reachable from outside the cluster yet');
  });
});

it('the changelog of the chart begins with its version', async () => {
  const { version } = parse(await readFile(`${CHART}/Chart.yaml`, 'utf8'));
  const [, latest] = /^## (\S+)/m.exec(await readFile(`${CHART}/CHANGELOG.md`, 'utf8'));
  expect(latest).toBe(version);
});
