// Alerts about batches of requests, in the format of `alerts.mjs`.
import { m } from './names.mjs';
import { counter, rising } from './series.mjs';

const failures = counter(m.batches.failures);

export const batchAlerts = [
  {
    name: 'BatchesFailing',
    severity: 'warning',
    // One that is left because its process lost the database for a moment is not worth an alert.
    expr: `sum(increase(${m.batches.failures}[10m])) > 5`,
    for: '5m',
    summary: 'Gateways had to leave batches {{ $value | humanize }} times in 10 minutes.',
    runbook: 'batches-failing',
    fires: [rising(failures, 2)],
    quiet: [rising(failures, 0.2)],
  },
];
