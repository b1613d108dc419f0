// The rules of Prometheus, and their tests, made from the alerts.
import { stringify } from 'yaml';
import { ALERTS } from './alerts.mjs';
import { runbookUrl } from './runbooks.mjs';
import { SERIES_LABELS, matchersOf, scopedToRelease } from './scope.mjs';
import { OBJECTIVES, WINDOWS, ratioName } from './slo.mjs';

/** Where the tests look, unless an alert says otherwise. */
const AT = '20m';

const HEAD = '# Made by npm run dashboards from tools/observe.\n';
const yaml = (document) => HEAD + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });

/** What is recorded and what fires has the labels of the series, so that two deployments' stay apart. */
const ratios = OBJECTIVES.flatMap(({ slo, ratio }) =>
  WINDOWS.map((window) => ({
    record: ratioName(window),
    labels: { slo, ...SERIES_LABELS },
    expr: scopedToRelease(ratio(window)),
  })),
);

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
      { name: 'objectives', interval: '30s', rules: ratios },
      { name: 'alerts', interval: '15s', rules: ALERTS.map(rule) },
    ],
  });

/** Series of the catalogue as a deployment has them. */
const labelled = (series, labels) =>
  series.map(([of, values]) => ({
    series: of.replace(/\}$/, `,${matchersOf(labels)}}`).replace('{,', '{'),
    values,
  }));

/** How many of an alert fire for a deployment. */
function expectation({ name, severity, labels = {} }, of, count) {
  const selector = matchersOf({ alertname: name, severity, alertstate: 'firing', ...labels, ...of });
  return {
    expr: `count(ALERTS{${selector}}) or vector(0)`,
    exp_samples: [{ labels: '{}', value: count }],
  };
}

/**
 * What becomes of an alert where these series are ours and the opposite is everyone else's: it fires once, or is quiet. The
 * others are quiet where ours fires and fail where ours is quiet.
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
  { series: fires, others: quiet, fires: true, what: 'fires, though others are well' },
  { series: quiet, others: fires, fires: false, what: 'is quiet, though others fail' },
  ...alsoFires.map(([what, series]) => ({ series, others: quiet, fires: true, what: `fires ${what}` })),
  ...alsoQuiet.map(([what, series]) => ({ series, others: fires, fires: false, what: `is quiet ${what}` })),
];

const testsOf = (alerts, { files, groups, everyMinutes, ...deployments }) =>
  yaml({
    rule_files: files,
    evaluation_interval: `${everyMinutes}m`,
    // Alerts see the ratios of their own moment.
    group_eval_order: groups,
    tests: alerts.flatMap((alert) => casesOf(alert).map((one) => testOf(alert, one, deployments))),
  });

/** Alerts by how far they look back: what takes hours or days is gone through in longer steps. */
function reachOf({ labels, at }) {
  if (labels?.slo !== undefined) return 'days';
  return at === undefined ? 'minutes' : 'hours';
}

/** The steps in which series and rules are gone through, in minutes. */
const STEPS = {
  minutes: { step: 1, everyMinutes: 1 },
  hours: { step: 1, everyMinutes: 10 },
  days: { step: 2, everyMinutes: 60 },
};

/** The plain rules beside a release of another name, one in Kubernetes, and what belongs to nobody. */
const PLAIN = {
  files: ['svc.rules.yml'],
  groups: ['objectives', 'alerts'],
  ours: SERIES_LABELS,
  foreign: [{ release: 'staging' }, { namespace: 'other' }],
};

/** Tests for promtool by the names of their files: for the plain rules, or for files of rules and the labels of their series. */
export function ruleTests(of = PLAIN) {
  const byReach = Object.groupBy(ALERTS, reachOf);
  return Object.fromEntries(
    Object.entries(STEPS).map(([reach, steps]) => [
      `${reach}.rules.test.yml`,
      testsOf(byReach[reach], { ...of, ...steps }),
    ]),
  );
}
