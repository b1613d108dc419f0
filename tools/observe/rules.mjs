// The rules of Prometheus, and their tests, made from the alerts.
import { stringify } from 'yaml';
import { ALERTS } from './alerts.mjs';
import { OBJECTIVES, WINDOWS, ratioName } from './slo.mjs';

/** Where the tests look, unless an alert says otherwise. */
const AT = '30m';

const HEAD = '# Made by npm run dashboards from tools/observe.\n';
const yaml = (document) => HEAD + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });

const ratios = OBJECTIVES.flatMap(({ slo, ratio }) =>
  WINDOWS.map((window) => ({ record: ratioName(window), labels: { slo }, expr: ratio(window) })),
);

const rule = ({ name, severity, labels = {}, expr, for: lasting = '0s', summary, runbook }) => ({
  alert: name,
  expr,
  for: lasting,
  labels: { severity, ...labels },
  annotations: { summary, runbook: `deploy/runbooks/${runbook}.md` },
});

export const rulesText = () =>
  yaml({
    groups: [
      { name: 'objectives', interval: '30s', rules: ratios },
      { name: 'alerts', interval: '15s', rules: ALERTS.map(rule) },
    ],
  });

/** An alert by itself, with the ratios it may be about: what it says of these series, told as a count. */
function testOf(alert, series, fires) {
  const { name, severity, labels = {}, at = AT } = alert;
  const selector = Object.entries({ alertname: name, severity, alertstate: 'firing', ...labels })
    .map(([label, value]) => `${label}="${value}"`)
    .join(',');
  return {
    name: `${name} ${severity} ${labels.window ?? ''}: ${fires ? 'fires' : 'is quiet'}`.replace(' :', ':'),
    interval: '1m',
    input_series: series.map(([of, values]) => ({ series: of, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{${selector}}) or vector(0)`,
        eval_time: at,
        exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }],
      },
    ],
  };
}

const testsOf = (alerts, everyMinutes) =>
  yaml({
    rule_files: ['svc.rules.yml'],
    evaluation_interval: `${everyMinutes}m`,
    // Alerts see the ratios of their own moment.
    group_eval_order: ['objectives', 'alerts'],
    tests: alerts.flatMap((alert) => [testOf(alert, alert.fires, true), testOf(alert, alert.quiet, false)]),
  });

/** Objectives look back for days, which are gone through in longer steps. */
const isBurn = ({ labels }) => labels?.slo !== undefined;

export const ruleTests = () => ({
  'svc.rules.test.yml': testsOf(
    ALERTS.filter((alert) => !isBurn(alert)),
    1,
  ),
  'objectives.rules.test.yml': testsOf(ALERTS.filter(isBurn), 60),
});
