import { Counter, Gauge } from '../metrics/metrics.js';

/** Rate limits. */
export const limits = {
  refusals: new Counter(
    {
      name: 'svc.limits.refusals',
      unit: '{request}',
      help: 'Requests rejected by a limit, by type of limit.',
      labels: ['svc.limits.type'],
    },
    [['RPM'], ['TPM'], ['CONCURRENT'], ['FAILED_REQUESTS']],
  ),
  alone: new Gauge({
    name: 'svc.limits.alone',
    unit: '1',
    help: '1 if this process counts limits alone because the shared count is unavailable, otherwise 0.',
    labels: [],
  }),
  faults: new Counter({
    name: 'svc.limits.faults',
    unit: '{call}',
    help: 'Calls to the shared count that timed out.',
    labels: [],
  }),
  countedAlone: new Counter({
    name: 'svc.limits.local_decisions',
    unit: '{decision}',
    help: 'Decisions made from the local share.',
    labels: ['svc.limits.outcome'],
  }),
};
