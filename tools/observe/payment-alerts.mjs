// Alerts about wallets and their payments, in the format of `alerts.mjs`.
import { unproved, unprovedSeries } from './audit-alerts.mjs';
import { m } from './names.mjs';
import { counter, flat, rising, risen } from './series.mjs';

const failedPayments = counter(m.payments.audits, 'svc_audit_scope="new",svc_audit_result="failed"');

export const paymentAlerts = [
  {
    name: 'PaymentStuck',
    severity: 'critical',
    expr: `max by (svc_payments_rail) (${m.payments.oldest}) > 900`,
    for: '1m',
    summary:
      'A payment by {{ $labels.svc_payments_rail }} has not completed for {{ $value | humanizeDuration }}.',
    runbook: 'payment-stuck',
    fires: [flat(counter(m.payments.oldest, 'svc_payments_rail="base"'), 1_000)],
    quiet: [flat(counter(m.payments.oldest, 'svc_payments_rail="base"'), 600)],
  },
  {
    name: 'PaymentUnknown',
    severity: 'warning',
    expr: `max by (svc_payments_rail) (${m.payments.open}{svc_payments_state="UNKNOWN"}) > 0`,
    for: '10m',
    summary:
      'The outcome of {{ $value }} payments by {{ $labels.svc_payments_rail }} has been unknown for 10 minutes; their wallets are not credited.',
    runbook: 'payment-unknown',
    fires: [flat(counter(m.payments.open, 'svc_payments_rail="base",svc_payments_state="UNKNOWN"'), 1)],
    quiet: [
      flat(counter(m.payments.open, 'svc_payments_rail="base",svc_payments_state="UNKNOWN"'), 0),
      flat(counter(m.payments.open, 'svc_payments_rail="base",svc_payments_state="BROADCAST"'), 1),
    ],
  },
  {
    name: 'ChainLost',
    severity: 'critical',
    expr: `max by (job, svc_payments_rail) (${m.payments.chainFailing}) == 1`,
    for: '1m',
    summary:
      '{{ $labels.job }} gets no response from its node of {{ $labels.svc_payments_rail }}: nobody can pay.',
    runbook: 'chain-lost',
    fires: [flat(counter(m.payments.chainFailing, 'svc_payments_rail="base"'), 1)],
    quiet: [flat(counter(m.payments.chainFailing, 'svc_payments_rail="base"'), 0)],
  },
  {
    name: 'PaymentsAuditFailed',
    severity: 'critical',
    expr: unproved(m.payments),
    dataExpr: `max(${m.payments.proved})`,
    summary:
      'The {{ $labels.svc_audit_scope }} audit of payments found differences between credits, chains and books.',
    runbook: 'payments-audit-failed',
    ...unprovedSeries(m.payments),
  },
  {
    // If no payments are configured, no audit runs, so missing series are normal.
    name: 'PaymentsAuditMissing',
    severity: 'warning',
    expr: `time() - max(max_over_time(${m.payments.proved}[3h])) > 7200 or (sum(increase(${m.payments.audits}{svc_audit_result="failed"}[2h])) > 3 unless max(max_over_time(${m.payments.proved}[3h])) > 0)`,
    for: '10m',
    summary: 'No audit has proved the payments for two hours.',
    runbook: 'payments-audit-missing',
    fires: [rising(failedPayments, 1)],
    quiet: [rising(failedPayments, 1), rising(counter(m.payments.proved, 'svc_audit_scope="new"'), 60)],
    at: '150m',
  },
  {
    name: 'PaymentReversed',
    severity: 'critical',
    expr: `sum by (svc_payments_rail) (increase(${m.payments.reversed}[1h])) > 0`,
    summary:
      'A credited payment by {{ $labels.svc_payments_rail }} disappeared from its chain; its credit was taken back.',
    runbook: 'payment-reversed',
    fires: [risen(counter(m.payments.reversed, 'svc_payments_rail="base"'))],
    quiet: [flat(counter(m.payments.reversed, 'svc_payments_rail="base"'), 2)],
    at: '70m',
  },
];
