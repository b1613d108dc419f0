import { Counter } from '../metrics/metrics.js';

/** The sending of telemetry itself. */
export const exporting = {
  failures: new Counter(
    {
      name: 'svc.otlp.export.failures',
      unit: '{export}',
      help: 'Batches of traces, metrics or log lines that the OTLP receiver did not take.',
      labels: ['svc.signal'],
    },
    [['traces'], ['metrics'], ['logs']],
  ),
};
