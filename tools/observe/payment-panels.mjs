// Panels about wallets and their payments, in the format of `service-boards.mjs`. They are part of the money
// board.
import { m, most, quantile, rate } from './names.mjs';

const RAIL = 'svc_payments_rail';
const PEER = `${RAIL}, svc_payments_peer`;

export const paymentPanels = [
  { row: 'Are payments of wallets credited?' },
  {
    title: 'Paid by wallets, an hour',
    unit: 'currencyUSD',
    bad: 'Zero while wallets get 402 responses.',
    todo: 'Check the open payments below, and the node of the chain.',
    queries: [[`sum by (${RAIL}) (increase(${m.payments.credited}[1h]))`, `{{${RAIL}}}`, '0']],
  },
  {
    title: 'Open payments',
    unit: 'short',
    bad: 'An increase of one state; `UNKNOWN` for minutes: the outcome of a payment is not known.',
    todo: 'Runbook payment-stuck; for `UNKNOWN` payment-unknown.',
    queries: [[most(m.payments.open, 'svc_payments_state', ''), '{{svc_payments_state}}', '0']],
  },
  {
    title: 'Age of the oldest open payment',
    unit: 's',
    bad: 'Above 15 minutes: a wallet has paid, or tried to, and has been neither credited nor refused.',
    todo: 'Runbook payment-stuck; for `UNKNOWN` payments payment-unknown.',
    queries: [[most(m.payments.oldest, RAIL), `{{${RAIL}}}`, '0']],
  },
  {
    title: 'Finished payments, an hour',
    unit: 'short',
    bad: 'More than an occasional `FAILED`: payments expire before they are submitted.',
    todo: 'Runbook payment-stuck.',
    queries: [
      [`sum by (svc_payments_state) (increase(${m.payments.ended}[1h]))`, '{{svc_payments_state}}', '0'],
    ],
  },
  {
    title: 'Audits of payments, an hour',
    unit: 'short',
    bad: '`wrong`, even once; `failed`, more than once.',
    todo: 'Runbooks payments-audit-failed and payments-audit-missing.',
    queries: [
      [
        `sum by (svc_audit_scope, svc_audit_result) (increase(${m.payments.audits}[1h]))`,
        '{{svc_audit_scope}} {{svc_audit_result}}',
        '0',
      ],
    ],
  },
  {
    title: 'Reversed payments, an hour',
    unit: 'short',
    bad: 'Any: the chain no longer has a credited payment.',
    todo: 'Runbook payment-reversed.',
    queries: [[`sum by (${RAIL}) (increase(${m.payments.reversed}[1h]))`, `{{${RAIL}}}`, '0']],
  },
  { row: 'Do wallets and chains respond?' },
  {
    title: 'Sign-ins of wallets',
    unit: 'reqps',
    bad: 'A sudden increase of one problem: a client with a wrong clock, or someone who is guessing signatures.',
    todo: 'Read the log lines with status 401 and this problem.',
    queries: [
      [rate(m.payments.signIns, '', 'svc_problem=""'), 'accepted', '0'],
      [rate(m.payments.signIns, 'svc_problem', 'svc_problem!=""'), '{{svc_problem}}', '0'],
    ],
  },
  {
    title: 'Calls to nodes and facilitators, p95',
    unit: 's',
    bad: 'Above 1 s: top-ups and sign-ins of contract wallets wait for it.',
    todo: 'Use a node that is closer or has more capacity (`X402_EVM_RPC_URL`).',
    queries: [[quantile(0.95, m.payments.chainCalls, PEER), `{{${RAIL}}} {{svc_payments_peer}}`, 'any']],
  },
  {
    title: 'Failed calls to nodes and facilitators',
    unit: 'reqps',
    bad: 'Above 0.',
    todo: 'Runbook chain-lost.',
    queries: [
      [
        `${rate(`${m.payments.chainCalls}_count`, PEER, 'error_type!=""')} or vector(0)`,
        `{{${RAIL}}} {{svc_payments_peer}}`,
        '0',
      ],
    ],
  },
];
