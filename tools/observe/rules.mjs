// Prometheus rules and their tests, generated from the alerts.
import { stringify } from 'yaml';
import { ALERTS } from './alerts.mjs';
import { PRESENCE } from './presence-alerts.mjs';
import { runbookUrl } from './runbooks.mjs';
import { SERIES_LABELS, matchersOf, scopedToRelease } from './scope.mjs';
import { RECORDED } from './slo.mjs';

/** When the tests evaluate an alert, unless it specifies another time. */
const AT = '20m';

const HEAD = '# Made by npm run dashboards from tools/observe.\n';
const yaml = (document) => HEAD + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });

/** Recording rules and alerts keep the labels of the deployment, so that deployments stay separate. */
const recording = ({ record, expr, labels = {} }) => ({
  record,
  labels: { ...labels, ...SERIES_LABELS },
  expr: scopedToRelease(expr),
});

const rule = ({ name, severity, labels = {}, expr, for: lasting = '0s', summary, runbook }) => ({
  alert: name,
  expr: scopedToRelease(expr),
  for: lasting,
  labels: { severity, ...labels, ...SERIES_LABELS },
  annotations: { summary, runbook_url: runbookUrl(runbook) },
});

export const rulesText = () =>
  yaml({
    groups: [
      { name: 'replicas', interval: '15s', rules: PRESENCE.map(recording) },
      { name: 'objectives', interval: '30s', rules: RECORDED.map(recording) },
      { name: 'alerts', interval: '15s', rules: ALERTS.map(rule) },
    ],
  });

/** Series of the catalogue with the labels of a deployment. */
const labelled = (series, labels) =>
  series.map(([of, values]) => ({
    series: of.replace(/\}$/, `,${matchersOf(labels)}}`).replace('{,', '{'),
    values,
  }));

/** The number of firing instances of an alert for a deployment. */
function expectation({ name, severity, labels = {} }, of, count) {
  const selector = matchersOf({ alertname: name, severity, alertstate: 'firing', ...labels, ...of });
  return {
    expr: `count(ALERTS{${selector}}) or vector(0)`,
    exp_samples: [{ labels: '{}', value: count }],
  };
}

/**
 * The expected result of an alert if these series are ours and everyone else's are the opposite: it fires
 * once, or not at all. The others are quiet if ours fires, and fail if ours is quiet.
 */
function testOf(alert, { series, others, fires, what }, { ours, foreign, step }) {
  const { name, severity, labels = {}, at = AT } = alert;
  return {
    name: [name, severity, labels.window, what].filter(Boolean).join(' '),
    interval: `${step}m`,
    input_series: [...labelled(series, ours), ...foreign.flatMap((of) => labelled(others, of))],
    promql_expr_test: [{ ...expectation(alert, ours, fires ? 1 : 0), eval_time: at }],
  };
}

const casesOf = ({ fires, quiet, alsoQuiet = [], alsoFires = [] }) => [
  { series: fires, others: quiet ?? [], fires: true, what: 'fires, though others are well' },
  ...(quiet ? [{ series: quiet, others: fires, fires: false, what: 'is quiet, though others fail' }] : []),
  ...alsoFires.map(([what, series]) => ({ series, others: quiet, fires: true, what: `fires ${what}` })),
  ...alsoQuiet.map(([what, series]) => ({ series, others: fires, fires: false, what: `is quiet ${what}` })),
];

const testsOf = (alerts, { files, groups, everyMinutes, ...deployments }) =>
  yaml({
    rule_files: files,
    evaluation_interval: `${everyMinutes}m`,
    // Alerts see the ratios recorded at the same time.
    group_eval_order: groups,
    tests: alerts.flatMap((alert) => casesOf(alert).map((one) => testOf(alert, one, deployments))),
  });

/** Groups alerts by the length of their time range: hours or days are evaluated in longer steps. */
function reachOf({ at }) {
  if (at === undefined) return 'minutes';
  return Number.parseInt(at, 10) > 1_000 ? 'days' : 'hours';
}

/** The steps in which series and rules are evaluated, in minutes. */
const STEPS = {
  minutes: { step: 1, everyMinutes: 4 },
  hours: { step: 1, everyMinutes: 10 },
  days: { step: 20, everyMinutes: 370 },
};

/**
 * Deployments for the plain rules: releases with other names, one in Kubernetes, and series without a
 * deployment.
 */
const PLAIN = {
  files: ['svc.rules.yml'],
  groups: ['replicas', 'objectives', 'alerts'],
  ours: SERIES_LABELS,
  foreign: [{ release: 'staging' }, { namespace: 'other' }],
};

/**
 * Tests for promtool by file name: for the plain rules, or for rule files with the labels of their series.
 */
export function ruleTests(of = PLAIN) {
  const byReach = Object.groupBy(ALERTS, reachOf);
  return Object.fromEntries(
    Object.entries(STEPS).map(([reach, steps]) => [
      `${reach}.rules.test.yml`,
      testsOf(byReach[reach], { ...of, ...steps }),
    ]),
  );
}
