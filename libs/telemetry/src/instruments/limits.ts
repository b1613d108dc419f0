import { Counter, Gauge } from '../cells/metrics.js';

/** Rate limits. */
export const limits = {
  refusals: new Counter(
    {
      name: 'svc.limits.refusals',
      unit: '{request}',
      help: 'Requests that a limit refused, by its type.',
      labels: ['svc.limits.type'],
    },
    [['RPM'], ['TPM'], ['CONCURRENT'], ['FAILED_REQUESTS']],
  ),
  alone: new Gauge({
    name: 'svc.limits.alone',
    unit: '1',
    help: 'Whether this process counts alone, since the shared count does not answer: 1, or 0.',
    labels: [],
  }),
  faults: new Counter({
    name: 'svc.limits.faults',
    unit: '{call}',
    help: 'Calls to the shared count without an answer in time.',
    labels: [],
  }),
  countedAlone: new Counter({
    name: 'svc.limits.local_decisions',
    unit: '{decision}',
    help: 'What was decided from the local share.',
    labels: ['svc.limits.outcome'],
  }),
};
