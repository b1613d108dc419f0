// Alerts about single backends and nodes of blockchains, in the format of `alerts.mjs`.
import { BACKEND, MODEL, m } from './names.mjs';
import { counter, flat, rising } from './series.mjs';

const BOTH = `${MODEL}, ${BACKEND}`;
const increased = (by, outcomes, window) =>
  `sum by (${by}) (increase(${m.router.attempts}{svc_router_outcome=~"${outcomes}"}[${window}]))`;
const failed = increased(BOTH, 'failed', '15m');
/** A backend in its cool-down gets few attempts, so few are enough. */
const dead = `${failed} / ${increased(BOTH, 'answered|refused|failed|aborted', '15m')} > 0.9 and ${failed} >= 3`;

/** Checks keep calls from a backend that is down, so it has no failed attempts either. */
const down = `max by (${BOTH}) (max_over_time(${m.router.up}[2m])) == 0`;
const up = (backend) => counter(m.router.up, `${MODEL}="a-model",${BACKEND}="${backend}"`);
const drained = counter(m.router.drained, `${MODEL}="a-model",${BACKEND}="a"`);

const attempts = (backend, outcome) =>
  counter(m.router.attempts, `${MODEL}="a-model",${BACKEND}="${backend}",svc_router_outcome="${outcome}"`);
const oneIsDead = [
  rising(attempts('a', 'failed'), 1),
  flat(attempts('a', 'answered'), 9),
  rising(attempts('b', 'answered'), 50),
];
const bothRespond = [
  rising(attempts('a', 'failed'), 1),
  rising(attempts('a', 'answered'), 9),
  rising(attempts('b', 'answered'), 50),
];
const behind = counter(m.router.behind, `${MODEL}="#crypto-rpc-a",${BACKEND}="node-1"`);
const chainTime = counter(m.payments.chainTime, 'svc_payments_rail="base"');

export const backendAlerts = [
  {
    name: 'BackendDead',
    severity: 'warning',
    expr: dead,
    for: '1m',
    summary:
      '{{ $labels.svc_backend }} of {{ $labels.gen_ai_request_model }} fails {{ $value | humanizePercentage }} of its requests, which others serve meanwhile.',
    runbook: 'backend-dead',
    fires: oneIsDead,
    quiet: bothRespond,
  },
  {
    name: 'BackendDown',
    severity: 'warning',
    expr: down,
    for: '3m',
    summary:
      '{{ $labels.svc_backend }} of {{ $labels.gen_ai_request_model }} has been out of rotation for five minutes.',
    runbook: 'backend-dead',
    fires: [flat(up('a'), 0), flat(up('b'), 1)],
    quiet: [flat(up('a'), 1), flat(up('b'), 1)],
    alsoQuiet: [['while an operator has taken it out of service', [flat(drained, 1), flat(up('b'), 1)]]],
  },
  {
    name: 'RetriesRefused',
    severity: 'warning',
    expr: `sum by (${MODEL}) (increase(${m.router.retriesRefused}[5m])) > 10`,
    for: '1m',
    summary:
      'Requests for {{ $labels.gen_ai_request_model }} fail without another attempt: most of its backends fail at the same time.',
    runbook: 'no-healthy-backend',
    fires: [rising(counter(m.router.retriesRefused, `${MODEL}="a-model"`), 10)],
    quiet: [flat(counter(m.router.retriesRefused, `${MODEL}="a-model"`), 3)],
  },
  {
    name: 'CapacityLost',
    severity: 'critical',
    expr: `${increased(MODEL, 'full', '5m')} >= 5 and on (${MODEL}) ((${dead}) or (${down}))`,
    dataExpr: increased(MODEL, 'answered', '5m'),
    for: '1m',
    summary:
      'A backend of {{ $labels.gen_ai_request_model }} is dead, and the others are full: they refused {{ $value | humanize }} requests in 5 minutes.',
    runbook: 'backend-dead',
    fires: [...oneIsDead, rising(attempts('b', 'full'), 5)],
    quiet: oneIsDead,
    alsoQuiet: [
      ['while all backends respond and are full', [...bothRespond, rising(attempts('b', 'full'), 5)]],
    ],
  },
  {
    name: 'NodeBehind',
    severity: 'warning',
    expr: `max by (${BOTH}) (${m.router.behind}) == 1`,
    for: '5m',
    summary:
      'The node {{ $labels.svc_backend }} of {{ $labels.gen_ai_request_model }} is far behind the others of its network.',
    runbook: 'node-behind',
    fires: [flat(behind, 1)],
    quiet: [flat(behind, 0)],
  },
  {
    name: 'ChainBehind',
    severity: 'critical',
    expr: `time() - max by (svc_payments_rail) (${m.payments.chainTime}) > 300`,
    for: '2m',
    summary:
      'The last block of {{ $labels.svc_payments_rail }} that its node shows is {{ $value | humanizeDuration }} old: payments are not credited.',
    runbook: 'node-behind',
    fires: [flat(chainTime, 0)],
    quiet: [rising(chainTime, 60)],
  },
];
