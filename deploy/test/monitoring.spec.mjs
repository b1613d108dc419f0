import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ruleTests } from '../../tools/observe/rules.mjs';
import { BUDGET, FIRST_TOKEN_S, RECORDED } from '../../tools/observe/slo.mjs';
import { EXTERNAL, Release, SERVICES } from './chart.mjs';

const folder = new URL('..', import.meta.url);
const files = new URL('charts/platform/files/', folder);
const enabled = { enabled: true };
const MONITORED = { ...EXTERNAL, serviceMonitor: enabled, prometheusRule: enabled, dashboards: enabled };
const PROMTOOL_MS = 900_000;

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const note = hasPromtool ? '' : ' (SKIPPED: there is no promtool on the PATH)';
let release;

beforeAll(async () => {
  release = await Release.of(MONITORED);
});

const groupsOf = (one) => one.all('PrometheusRule').flatMap(({ spec }) => spec.groups);
const rulesOf = (one) => groupsOf(one).flatMap(({ rules }) => rules);
const alertsOf = (one) => rulesOf(one).filter(({ alert }) => alert);

it('every service is scraped on its metrics port, with the metrics token', () => {
  for (const name of SERVICES) {
    const { selector, endpoints } = release.get('ServiceMonitor', name).spec;
    const service = release.get('Service', name);
    expect(service.metadata.labels).toMatchObject(selector.matchLabels);
    expect(service.spec.ports.map((port) => port.name)).toContain(endpoints[0].port);
    expect(endpoints[0]).toMatchObject({
      port: name === 'api-gateway' ? 'operator' : 'http',
      path: '/metrics',
      authorization: { credentials: { name: 'tokens', key: 'metrics-token' } },
    });
  }
});

it('the operator of kube-prometheus-stack selects the rules and the monitors', () => {
  const objects = [...release.all('ServiceMonitor'), ...release.all('PrometheusRule')];
  expect(objects).toHaveLength(SERVICES.length + 1);
  for (const { metadata } of objects)
    expect(metadata.labels).toMatchObject({ release: 'kube-prometheus-stack' });
});

it('every rule selects only the series of its release, which carry its labels', async () => {
  const more = { ...MONITORED, monitoring: { seriesLabels: { cluster: 'eu-1' } } };
  for (const [one, labels] of [
    [release, { namespace: 'platform', release: 'svc' }],
    [await Release.of(more), { cluster: 'eu-1', namespace: 'platform', release: 'svc' }],
  ]) {
    const set = {
      port: 'http',
      relabelings: Object.entries(labels).map(([targetLabel, replacement]) => ({ targetLabel, replacement })),
    };
    expect(one.get('ServiceMonitor', 'billing-ledger').spec.endpoints).toMatchObject([set]);
    const selector = Object.entries(labels)
      .map(([label, value]) => `${label}="${value}"`)
      .join(',');
    for (const rule of rulesOf(one)) {
      expect(rule.labels).toMatchObject(labels);
      // The kubelet's series have no release.
      const own = rule.alert === 'VolumeFillsUp' ? '{namespace="platform"}' : `${selector}}`;
      const [selected, ...rest] = [rule.expr.split(own).length - 1, rule.expr.split('{').length - 1];
      expect([rule.expr, selected]).toEqual([rule.expr, ...rest]);
    }
  }
});

it('the objectives are those of the values, by default those of the plain rules', async () => {
  const recorded = (one) =>
    Object.fromEntries(
      rulesOf(one)
        .filter(({ record }) => /^slo:(error_budget|failures:least)/.test(record))
        .map(({ record, labels: { slo = record }, expr }) => [slo, expr]),
    );
  const plain = RECORDED.filter(({ record }) => record === BUDGET || record === 'slo:failures:least');
  expect(recorded(release)).toEqual(
    Object.fromEntries(plain.map(({ record, labels: { slo = record } = {}, expr }) => [slo, expr])),
  );
  const objectives = {
    availability: 99.95,
    reads: 99,
    modelAvailability: 98.6,
    firstToken: 90,
    firstTokenSeconds: 10,
    leastFailures: 3,
  };
  const other = await Release.of({ ...MONITORED, objectives });
  expect(recorded(other)).toEqual({
    availability: 'vector(0.0005)',
    reads: 'vector(0.01)',
    model_availability: 'vector(0.014)',
    first_token: 'vector(0.1)',
    'slo:failures:least': 'vector(3)',
  });
  const boundaries = (one) => new Set(JSON.stringify(rulesOf(one)).match(/(?<=[{,])le=\\"[\d.]+/g));
  expect([...boundaries(release)]).toEqual([`le=\\"${FIRST_TOKEN_S}`]);
  expect([...boundaries(other)]).toEqual(['le=\\"10']);
});

it('every alert has a severity, labels for routing and the URL of its runbook', async () => {
  const runbooks = await readdir(new URL('runbooks', folder));
  const alerts = alertsOf(
    await Release.of({
      ...MONITORED,
      prometheusRule: { ...enabled, alertLabels: { team: 'inference', severity: 'none' } },
      monitoring: { runbooksUrl: 'https://wiki.example/runbooks/' },
    }),
  );
  expect(alerts.length).toBeGreaterThan(0);
  for (const { labels, annotations } of alerts) {
    expect(['critical', 'warning', 'none']).toContain(labels.severity);
    expect(labels.team).toBe('inference');
    const [, page] = /^https:\/\/wiki\.example\/runbooks\/([\w-]+\.md)$/.exec(annotations.runbook_url) ?? [];
    expect(runbooks).toContain(page);
  }
});

/** What promtool reports of tests of rules, by file name. Rejects if one fails. */
async function testedRules(groups, tests) {
  const aside = await mkdtemp(join(tmpdir(), 'svc-rules-'));
  try {
    await writeFile(join(aside, 'rules.yml'), stringify({ groups }));
    const names = Object.keys(tests);
    for (const name of names) await writeFile(join(aside, name), tests[name]);
    const options = { cwd: aside, timeout: PROMTOOL_MS };
    const results = await Promise.all(
      names.map((name) => promisify(execFile)('promtool', ['test', 'rules', name], options)),
    );
    return results.map(({ stdout }) => stdout);
  } finally {
    await rm(aside, { recursive: true });
  }
}

const GROUPS = ['svc-replicas', 'svc-objectives', 'svc-alerts'];
const SELECTOR = 'namespace="platform",release="svc"';
const OURS = { namespace: 'platform', release: 'svc' };

it.skipIf(!hasPromtool)(
  `alerts fire for their own release, whatever happens to another in the same Prometheus${note}`,
  async () => {
    const groups = groupsOf(release);
    const foreign = [
      { namespace: 'staging', release: 'svc' },
      { namespace: 'platform', release: 'other' },
    ];
    // The series of these tests are of a few services only, so those that run are the expected ones.
    const [replicas, ...others] = groups;
    const [running] = replicas.rules.slice(-1);
    const seen = ['needed', 'expected'].map((which) => ({
      record: `svc:replicas:${which}`,
      labels: OURS,
      expr: `group by (job) (max_over_time(up{${SELECTOR}}[1d]))`,
    }));
    const tests = ruleTests({ files: ['rules.yml'], groups: GROUPS, ours: OURS, foreign });
    const results = await testedRules([{ ...replicas, rules: [...seen, running] }, ...others], tests);
    for (const stdout of results) expect(stdout).toContain('SUCCESS');
  },
  PROMTOOL_MS,
);

/** The services of a release whose alert `name` fires after half an hour, if these have targets. */
const firingWith = (what, targets, { name = 'ServiceDown', expected = [] } = {}) => ({
  name: what,
  interval: '1m',
  input_series: targets.map(([job, instance, values]) => ({
    series: `up{job="${job}",instance="${instance}",namespace="platform",release="svc"}`,
    values,
  })),
  promql_expr_test: [
    {
      expr: `count by (job) (ALERTS{alertname="${name}",alertstate="firing"})`,
      exp_samples: expected.map((job) => ({ labels: job ? `{job="${job}"}` : '{}', value: 1 })),
      eval_time: '30m',
    },
  ],
});

it.skipIf(!hasPromtool)(
  `a service whose pods are gone wakes the person on call; one missing pod of several does not${note}`,
  async () => {
    const groups = groupsOf(release);
    const jobs = SERVICES.map((name) => `svc-${name}`);
    const all = jobs.flatMap((job) => ['a', 'b'].map((instance) => [job, instance, '1x60']));
    const without = (is, values) => all.map((one) => (is(one) ? [one[0], one[1], values] : one));
    const cases = jobs.flatMap((job) => {
      const gone = without(([of]) => of === job, '1x5 stale');
      const never = all.filter(([of]) => of !== job);
      const one = without(([of, instance]) => of === job && instance === 'b', '1x5 stale');
      return [
        firingWith(`${job} is gone`, gone, { expected: [job] }),
        firingWith(`${job} never came`, never, { expected: [job] }),
        firingWith(`one pod of ${job} is gone: no page`, one),
        firingWith(`one pod of ${job} is gone`, one, { name: 'ReplicasMissing', expected: [job] }),
      ];
    });
    const nothing = without(() => true, '1x5 stale');
    const tests = [
      ...cases,
      firingWith('all run', all),
      firingWith('all run', all, { name: 'DeploymentGone' }),
      firingWith('all are gone: one page', nothing, { name: 'DeploymentGone', expected: [''] }),
      firingWith('all are gone: one page', nothing),
    ];
    const [stdout] = await testedRules(groups, {
      'gone.test.yml': stringify({
        rule_files: ['rules.yml'],
        evaluation_interval: '1m',
        group_eval_order: GROUPS,
        tests,
      }),
    });
    expect(stdout).toContain('SUCCESS');
  },
  PROMTOOL_MS,
);

it.skipIf(!hasPromtool)(
  `any volume of the namespace that fills up within four days alerts, before and when it is full${note}`,
  async () => {
    const of = (claim, values, { namespace = 'platform', what = 'available' } = {}) => ({
      series: `kubelet_volume_stats_${what}_bytes{namespace="${namespace}",persistentvolumeclaim="${claim}"}`,
      values,
    });
    const claims = { soon: '40-0.01x600', later: '40-0.001x600', roomy: '90-0.1x100', full: '3x600' };
    const [stdout] = await testedRules(groupsOf(release), {
      'volumes.test.yml': stringify({
        rule_files: ['rules.yml'],
        evaluation_interval: '1m',
        tests: [
          {
            interval: '1m',
            input_series: [
              ...Object.entries(claims).flatMap(([claim, values]) => [
                of(claim, values),
                of(claim, '100x600', { what: 'capacity' }),
              ]),
              of('foreign', '3x600', { namespace: 'other' }),
              of('foreign', '100x600', { namespace: 'other', what: 'capacity' }),
            ],
            promql_expr_test: [
              {
                expr: 'count by (persistentvolumeclaim, severity) (ALERTS{alertname="VolumeFillsUp",alertstate="firing"})',
                exp_samples: [
                  { labels: '{persistentvolumeclaim="soon",severity="warning"}', value: 1 },
                  { labels: '{persistentvolumeclaim="full",severity="critical"}', value: 1 },
                ],
                eval_time: '90m',
              },
            ],
          },
        ],
      }),
    });
    expect(stdout).toContain('SUCCESS');
  },
  PROMTOOL_MS,
);

const replicasOf = (one, which) =>
  Object.fromEntries(
    rulesOf(one)
      .filter(({ record }) => record === `svc:replicas:${which}`)
      .map(({ labels, expr }) => [labels.job, expr]),
  );

it('exactly the services of a release are expected, with the replicas of its values', async () => {
  expect(Object.keys(replicasOf(release, 'needed'))).toEqual(
    SERVICES.map((name) => `svc-${name}`).toSorted(),
  );
  const services = {
    'api-gateway': { replicas: 5 },
    'inference-router': { replicas: 5, neededReplicas: 4 },
    'billing-ledger': { autoscaling: { enabled: true, min: 3, max: 8 } },
    'rate-limiter': { replicas: 1 },
    'x402-payments': { enabled: false },
    'retrieval-worker': { replicas: 2, neededReplicas: 7 },
  };
  const one = await Release.of({ ...MONITORED, services, fullnameOverride: 'ours' });
  expect(replicasOf(one, 'expected')).toEqual({
    'ours-api-gateway': 'vector(5)',
    'ours-billing-ledger': 'vector(3)',
    'ours-inference-router': 'vector(5)',
    'ours-rate-limiter': 'vector(1)',
    'ours-retrieval-worker': 'vector(2)',
  });
  expect(replicasOf(one, 'needed')).toEqual({
    'ours-api-gateway': 'vector(3)',
    'ours-billing-ledger': 'vector(2)',
    'ours-inference-router': 'vector(4)',
    'ours-rate-limiter': 'vector(1)',
    'ours-retrieval-worker': 'vector(2)',
  });
  const single = await Release.of({
    serviceMonitor: enabled,
    prometheusRule: enabled,
    firstAccount: { enabled: false },
  });
  expect(replicasOf(single, 'needed')).toEqual({ 'svc-all': 'vector(1)' });
});

/** All panels, including those of collapsed rows. */
const panelsOf = ({ panels }) => panels.flatMap((panel) => (panel.type === 'row' ? panel.panels : [panel]));

async function boardsOf(one) {
  const names = await readdir(new URL('dashboards', files));
  expect(names.length).toBeGreaterThan(0);
  return names.map((name) => {
    const { data, metadata } = one.get('ConfigMap', `dashboard-${name.replace('.json', '')}`);
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    const [[file, text], ...rest] = Object.entries(data);
    expect(rest).toEqual([]);
    return { name, file, ...JSON.parse(text) };
  });
}

it('every dashboard has all of its panels, and selects its release by default', async () => {
  for (const board of await boardsOf(release)) {
    const written = JSON.parse(await readFile(new URL(`dashboards/${board.name}`, files), 'utf8'));
    expect(board.panels).toEqual(written.panels);
    const chosen = board.templating.list.map(({ name, current }) => [name, current?.value]);
    expect(chosen).toEqual(
      expect.arrayContaining([
        ['namespace', 'platform'],
        ['release', 'svc'],
      ]),
    );
    expect(board.links[0].tags).toEqual(['platform/svc']);
    expect(board.tags).toContain('platform/svc');
  }
});

it('dashboards of several releases can be in one Grafana', async () => {
  const staging = await boardsOf(await Release.of(MONITORED, { namespace: 'staging' }));
  const elsewhere = { ...MONITORED, monitoring: { seriesLabels: { cluster: 'eu-1' } } };
  const all = [...(await boardsOf(release)), ...staging, ...(await boardsOf(await Release.of(elsewhere)))];
  for (const member of ['uid', 'title'])
    expect(new Set(all.map((board) => board[member])).size).toBe(all.length);
  // The Grafana sidecar of a cluster writes the dashboards of all namespaces to one folder.
  const files = all.filter(({ title }) => !title.includes('eu-1')).map(({ file }) => file);
  expect(new Set(files).size).toBe(files.length);
  // Grafana limits their length.
  expect(all.filter(({ uid }) => uid.length > 40)).toEqual([]);
});

it('dashboards select by all labels of the series and link to the runbooks of the release', async () => {
  const monitoring = { seriesLabels: { cluster: 'eu-1' }, runbooksUrl: 'https://wiki.example/runbooks/' };
  const selector = 'namespace=~"$namespace",release=~"$release",cluster="eu-1"';
  for (const board of await boardsOf(await Release.of({ ...MONITORED, monitoring }))) {
    const queries = panelsOf(board).flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries)
      expect([query, query.split(selector).length]).toEqual([query, query.split('{').length]);
    const links = [board.links[1], ...panelsOf(board).flatMap((panel) => panel.links ?? [])];
    for (const { url } of links) expect(url).toMatch(/^https:\/\/wiki\.example\/runbooks\/[\w-]+\.md$/);
  }
});
