import { Counter, Gauge } from '../metrics/metrics.js';

/** Batches of requests. */
export const batches = {
  running: new Gauge({
    name: 'svc.batches.running',
    unit: '{batch}',
    help: 'Batches that this process works on.',
    labels: [],
  }),
  lines: new Counter(
    {
      name: 'svc.batches.lines',
      unit: '{line}',
      help: 'Lines of batches that have their results, by outcome.',
      labels: ['svc.batches.outcome'],
    },
    [['completed'], ['failed']],
  ),
  ended: new Counter(
    {
      name: 'svc.batches.ended',
      unit: '{batch}',
      help: 'Batches that have ended, by outcome.',
      labels: ['svc.batches.outcome'],
    },
    [['completed'], ['expired'], ['cancelled']],
  ),
  failures: new Counter(
    {
      name: 'svc.batches.failures',
      unit: '{failure}',
      help: 'How often a process had to leave a batch, which is tried again.',
      labels: [],
    },
    [[]],
  ),
};
