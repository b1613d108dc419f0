// Alerts about processes that are gone, in the format of `alerts.mjs`. A pod that is gone has no `up`, so
// what runs is compared with what should run: the chart records that from its values, the plain rules from
// the past day.
import { m } from './names.mjs';
import { counter, flat } from './series.mjs';

/** Recorded for each service, as `job`. */
const RUNNING = 'svc:replicas:running';
/** Fewer than these can't serve the load. */
const NEEDED = 'svc:replicas:needed';
const EXPECTED = 'svc:replicas:expected';

const seen = 'group by (job) (max_over_time(up[1d]))';
const ready = `sum by (job) (up unless on (job, instance) ${m.runtime.ready} == 0)`;
const none = (name) => `0 * count by (job) (${name})`;

/** The chart replaces the first two by the numbers of its values. */
export const PRESENCE = [
  { record: NEEDED, expr: seen },
  { record: EXPECTED, expr: seen },
  { record: RUNNING, expr: `${ready} or ${none('up')} or ${none(NEEDED)}` },
];

const up = (instance) => `up{job="api-gateway",instance="${instance}"}`;
const isReady = (instance) => counter(m.runtime.ready, `job="api-gateway",instance="${instance}"`);
const gone = (series) => [series, '1x10 stale'];
const router = flat('up{job="inference-router",instance="c"}', 1);

export const presenceAlerts = [
  {
    name: 'DeploymentGone',
    severity: 'critical',
    expr: 'absent(up)',
    dataExpr: 'count(up)',
    for: '1m',
    summary: 'No process of the deployment is scraped any more.',
    runbook: 'service-down',
    fires: [gone(up('a'))],
    quiet: [flat(up('a'), 1)],
    alsoFires: [['where no process was ever scraped', []]],
    alsoQuiet: [['while a process that is down is still a target', [flat(up('a'), 0)]]],
  },
  {
    name: 'ServiceDown',
    severity: 'critical',
    expr: `(${RUNNING} < on (job) ${NEEDED} or ${RUNNING} < on (job) 0.5 * count by (job) (up)) unless on () absent(up)`,
    dataExpr: RUNNING,
    for: '1m',
    summary: '{{ $labels.job }} has {{ $value }} processes that can serve, fewer than it needs.',
    runbook: 'service-down',
    fires: [gone(up('a')), gone(up('b')), router],
    quiet: [flat(up('a'), 1), gone(up('b')), router],
    alsoFires: [
      ['while all of its processes are down', [flat(up('a'), 0), router]],
      ['while none of its processes is ready', [flat(up('a'), 1), flat(isReady('a'), 0), router]],
      [
        'while most of its processes are down',
        [flat(up('a'), 1), flat(up('b'), 0), flat(up('c'), 0), router],
      ],
    ],
    alsoQuiet: [
      ['while one of two processes is down', [flat(up('a'), 1), flat(up('b'), 0)]],
      [
        'while one of two processes is not ready',
        [flat(up('a'), 1), flat(up('b'), 1), flat(isReady('b'), 0)],
      ],
    ],
  },
  {
    name: 'ReplicasMissing',
    severity: 'warning',
    // An upgrade replaces pods one by one.
    expr: `${RUNNING} < on (job) ${EXPECTED}`,
    dataExpr: EXPECTED,
    for: '10m',
    summary: '{{ $labels.job }} has {{ $value }} processes that can serve, fewer than it should have.',
    runbook: 'service-down',
    fires: [gone(up('a')), router],
    quiet: [flat(up('a'), 1), router],
    at: '40m',
  },
  {
    name: 'TargetDown',
    severity: 'warning',
    expr: 'up == 0',
    for: '1m',
    summary: '{{ $labels.job }} at {{ $labels.instance }} reports no metrics.',
    runbook: 'target-down',
    fires: [flat(up('a'), 0)],
    quiet: [flat(up('a'), 1)],
  },
  {
    // Always fires: a receiver that no longer gets it knows that alerts don't arrive.
    name: 'DeadMansSwitch',
    severity: 'none',
    expr: 'vector(1)',
    summary: 'Alerts of this deployment are evaluated and delivered. This one always fires.',
    runbook: 'dead-mans-switch',
    fires: [],
  },
];
