// Alerts about wallets and what they pay; written as `alerts.mjs` says.
import { m } from './names.mjs';
import { counter, flat, rising, risen } from './series.mjs';

const wrongPayments = counter(m.payments.audits, 'svc_audit_scope="new",svc_audit_result="wrong"');
const failedPayments = counter(m.payments.audits, 'svc_audit_scope="new",svc_audit_result="failed"');

export const paymentAlerts = [
  {
    name: 'PaymentStuck',
    severity: 'page',
    expr: `max by (svc_payments_rail) (${m.payments.oldest}) > 900`,
    for: '1m',
    summary:
      'A wallet has waited {{ $value | humanizeDuration }} for what it paid by {{ $labels.svc_payments_rail }}.',
    runbook: 'payment-stuck',
    fires: [flat(counter(m.payments.oldest, 'svc_payments_rail="base"'), 1_000)],
    quiet: [flat(counter(m.payments.oldest, 'svc_payments_rail="base"'), 600)],
  },
  {
    name: 'PaymentUnknown',
    severity: 'ticket',
    expr: `sum by (svc_payments_rail) (increase(${m.payments.ended}{svc_payments_state="UNKNOWN"}[1h])) > 0`,
    summary: 'Of a payment by {{ $labels.svc_payments_rail }} only the operator can tell what became of it.',
    runbook: 'payment-unknown',
    fires: [risen(counter(m.payments.ended, 'svc_payments_rail="base",svc_payments_state="UNKNOWN"'))],
    quiet: [
      flat(counter(m.payments.ended, 'svc_payments_rail="base",svc_payments_state="UNKNOWN"'), 1),
      risen(counter(m.payments.ended, 'svc_payments_rail="base",svc_payments_state="CREDITED"')),
    ],
    at: '70m',
  },
  {
    name: 'ChainLost',
    severity: 'page',
    expr: `max by (job, svc_payments_rail) (${m.payments.chainFailing}) == 1`,
    for: '1m',
    summary:
      '{{ $labels.job }} has no answer from its node of {{ $labels.svc_payments_rail }}: nobody can pay.',
    runbook: 'chain-lost',
    fires: [flat(counter(m.payments.chainFailing, 'svc_payments_rail="base"'), 1)],
    quiet: [flat(counter(m.payments.chainFailing, 'svc_payments_rail="base"'), 0)],
  },
  {
    name: 'PaymentsAuditFailed',
    severity: 'page',
    expr: `sum(increase(${m.payments.audits}{svc_audit_result="wrong"}[1h])) > 0 or min(${m.payments.auditOk}) == 0`,
    summary: 'The audit of payments does not prove that credits, chains and books say the same.',
    runbook: 'payments-audit-failed',
    fires: [risen(wrongPayments)],
    quiet: [flat(wrongPayments, 0), flat(counter(m.payments.auditOk, 'svc_audit_scope="new"'), 1)],
    at: '70m',
  },
  {
    // Where nothing is sold nothing is audited, so that no series says nothing.
    name: 'PaymentsAuditMissing',
    severity: 'ticket',
    expr: `time() - max(${m.payments.proved}) > 7200 or (sum(increase(${m.payments.audits}{svc_audit_result="failed"}[2h])) > 3 unless max(${m.payments.proved}) > 0)`,
    for: '10m',
    summary: 'Nothing has proved the payments for two hours.',
    runbook: 'payments-audit-missing',
    fires: [rising(failedPayments, 1)],
    quiet: [rising(failedPayments, 1), rising(counter(m.payments.proved, 'svc_audit_scope="new"'), 60)],
    at: '150m',
  },
  {
    name: 'PaymentReversed',
    severity: 'page',
    expr: `sum by (svc_payments_rail) (increase(${m.payments.reversed}[1h])) > 0`,
    summary:
      'A credited payment by {{ $labels.svc_payments_rail }} is gone from its chain; its credit was taken back.',
    runbook: 'payment-reversed',
    fires: [risen(counter(m.payments.reversed, 'svc_payments_rail="base"'))],
    quiet: [flat(counter(m.payments.reversed, 'svc_payments_rail="base"'), 2)],
    at: '70m',
  },
];
