// Alerts about charges that wait to be posted to the books, in the format of `alerts.mjs`.
import { GROUP, TOPIC, m } from './names.mjs';
import { counter, flat } from './series.mjs';

const USAGE = `${TOPIC}="usage.recorded.v1",${GROUP}="ledger"`;
const oldest = counter(m.events.oldest, USAGE);
const journal = (name) => counter(m.money.journalled, `svc_journal="${name}"`);
const unposted = counter(m.money.unposted);

/** Holds keep the money of waiting charges, but what accounts see and may spend is behind. */
const lags = [
  { severity: 'warning', over: 30, lasting: '2m' },
  { severity: 'critical', over: 300, lasting: '1m' },
].map(({ severity, over, lasting }) => ({
  name: 'LedgerLag',
  severity,
  expr: `max(${m.events.oldest}{${USAGE}}) > ${over}`,
  for: lasting,
  summary: 'Usage is posted late: balances and spending lag behind by {{ $value | humanizeDuration }}.',
  runbook: 'ledger-lag',
  fires: [flat(oldest, over * 2)],
  quiet: [flat(oldest, over / 6)],
}));

export const waitingAlerts = [
  ...lags,
  {
    name: 'ChargesWaiting',
    severity: 'warning',
    expr: `sum by (job) (${m.money.unposted}) + on (job) (sum by (job) (${m.money.journalled}) or 0 * sum by (job) (${m.money.unposted})) > 0`,
    for: '5m',
    summary:
      '{{ $value }} charges wait in {{ $labels.job }}, because neither the event log nor the books take them.',
    runbook: 'charges-waiting',
    fires: [flat(unposted, 2)],
    quiet: [flat(unposted, 0), flat(journal('gateway-0'), 0)],
    alsoFires: [['while they wait in a journal', [flat(unposted, 0), flat(journal('gateway-0'), 4)]]],
  },
  {
    name: 'JournalLeft',
    severity: 'warning',
    expr: `max by (svc_journal) (last_over_time(${m.money.journalled}[7d])) > 0 unless on (svc_journal) ${m.money.journalled}`,
    dataExpr: m.money.unposted,
    for: '5m',
    summary:
      'The journal of {{ $labels.svc_journal }} holds {{ $value }} charges, and no process has its volume: they are not posted until one does.',
    runbook: 'charges-waiting',
    fires: [[journal('gateway-2'), '3x5 stale'], flat(journal('gateway-0'), 0)],
    quiet: [[journal('gateway-2'), '3x3 0x2 stale'], flat(journal('gateway-0'), 3)],
  },
];
