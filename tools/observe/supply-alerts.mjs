// Alerts about what runs out, fills up or expires, about wrong tokens of operators, and about telemetry that
// nobody takes, in the format of `alerts.mjs`.
import { m } from './names.mjs';
import { counter, flat, risen, rising } from './series.mjs';

const FOUR_DAYS_S = 4 * 86_400;
const available = counter(m.runtime.diskAvailable, 'svc_disk="data"');
const size = flat(counter(m.runtime.diskSize, 'svc_disk="data"'), 100);
const falling = (from, step) => [available, `${from}-${step}x160`];
const usable = `${m.runtime.diskAvailable} / ${m.runtime.diskSize}`;

const affordable = counter(m.payments.affordable, 'svc_payments_rail="base"');
const fewPayments = [
  { severity: 'warning', least: 1_000 },
  { severity: 'critical', least: 100 },
].map(({ severity, least }) => ({
  name: 'SignerFunds',
  severity,
  expr: `min by (svc_payments_rail) (${m.payments.affordable}) < ${least}`,
  needs: 'parsed',
  for: '5m',
  summary:
    'The signer of {{ $labels.svc_payments_rail }} can pay the fees of {{ $value | humanize }} more payments; then nobody can top up.',
  runbook: 'signer-funds',
  fires: [flat(affordable, least - 1)],
  quiet: [flat(affordable, least)],
}));

const pending = counter(m.neighbours.connectionsPending, 'db_client_connection_pool_name="postgresql"');
const expiry = counter(m.requests.operatorExpiry, 'svc_operator_token="ann"');
const refused = (why) => counter(m.requests.operatorRefusals, `svc_refusal="${why}"`);
const exported = counter(m.exporting.failures, 'svc_signal="traces"');
const DAY_S = 86_400;

export const supplyAlerts = [
  {
    name: 'DiskFillsUp',
    severity: 'warning',
    expr: `predict_linear(${m.runtime.diskAvailable}[6h], ${FOUR_DAYS_S}) < 0 and ${usable} < 0.5`,
    dataExpr: usable,
    for: '10m',
    summary:
      'The disk of {{ $labels.job }} at {{ $labels.instance }} ({{ $labels.svc_disk }}) will be full within four days.',
    runbook: 'disk-fills-up',
    fires: [falling(40, 0.01), size],
    quiet: [falling(40, 0.001), size],
    alsoQuiet: [['while more than half is left', [falling(90, 0.1), size]]],
  },
  {
    name: 'DiskFull',
    severity: 'critical',
    expr: `${usable} < 0.05`,
    for: '5m',
    summary:
      'The disk of {{ $labels.job }} at {{ $labels.instance }} ({{ $labels.svc_disk }}) has {{ $value | humanizePercentage }} left.',
    runbook: 'disk-fills-up',
    fires: [flat(available, 4), size],
    quiet: [flat(available, 6), size],
  },
  {
    name: 'DatabaseQueue',
    severity: 'warning',
    expr: `max by (job, instance) (min_over_time(${m.neighbours.connectionsPending}[2m])) > 0`,
    for: '2m',
    summary:
      '{{ $value }} operations of {{ $labels.job }} at {{ $labels.instance }} have been waiting for a connection to PostgreSQL.',
    runbook: 'database-queue',
    fires: [flat(pending, 3)],
    quiet: [[pending, '0 9 '.repeat(80).trim()]],
  },
  ...fewPayments,
  {
    name: 'OperatorTokenExpires',
    severity: 'warning',
    expr: `min by (svc_operator_token) (${m.requests.operatorExpiry}) - time() < ${14 * DAY_S}`,
    needs: 'parsed',
    summary:
      "The operator's token {{ $labels.svc_operator_token }} expires in {{ $value | humanizeDuration }}.",
    runbook: 'operator-tokens',
    fires: [flat(expiry, 10 * DAY_S)],
    quiet: [flat(expiry, 20 * DAY_S)],
  },
  {
    name: 'TelemetryNotTaken',
    severity: 'warning',
    expr: `sum by (job, svc_signal) (increase(${m.exporting.failures}[15m])) > 2`,
    needs: 'parsed',
    for: '5m',
    summary:
      'The OTLP receiver did not take {{ $value | humanize }} batches of {{ $labels.svc_signal }} of {{ $labels.job }} in 15 minutes.',
    runbook: 'telemetry-not-taken',
    fires: [rising(exported, 1)],
    quiet: [risen(exported, 2)],
  },
  {
    name: 'WrongOperatorTokens',
    severity: 'warning',
    expr: `sum(increase(${m.requests.operatorRefusals}{svc_refusal="wrong"}[10m])) > 20`,
    summary:
      "The operator's API refused {{ $value | humanize }} requests with a wrong token in 10 minutes: somebody is guessing, or a program has an old token.",
    runbook: 'operator-tokens',
    fires: [rising(refused('wrong'), 5)],
    quiet: [rising(refused('wrong'), 1), rising(refused('scope'), 9)],
  },
];
