import { CATALOGUE } from './instruments/catalogue.js';
import { type Push, targetOf } from './export/otlp-target.js';
import { type MetricsText, metricsText } from './export/prometheus-text.js';
import { readProcess } from './process/process-readings.js';
import type { TelemetryConfig } from './telemetry.config.js';

interface TelemetryOptions {
  readonly config: TelemetryConfig;
  readonly version: string;
}

/** Telemetry that runs until the process ends. */
export interface RunningTelemetry {
  /** Sends what has not been sent yet, for at most `STOP_MS`. */
  stop(): Promise<void>;
}

/** Starts the telemetry of this process: its own readings, and OTLP if an endpoint is set. */
export async function startTelemetry(options: TelemetryOptions): Promise<RunningTelemetry> {
  const { config, version } = options;
  const endReadings = readProcess(config.OTEL_SERVICE_NAME, version);
  const pushes = await startPushes(options);
  return {
    stop: async () => {
      await Promise.all(pushes.map((push) => push.stop()));
      endReadings();
    },
  };
}

/** OpenTelemetry's libraries are loaded only if something is sent. */
async function startPushes(options: TelemetryOptions): Promise<readonly Push[]> {
  const { config, version } = options;
  const [metrics, traces] = [targetOf(config, 'METRICS'), targetOf(config, 'TRACES')];
  const logs = config.OTEL_LOGS_EXPORTER === 'otlp' ? targetOf(config, 'LOGS') : undefined;
  if (!metrics && !traces && !logs) return [];
  const resource = (await import('./export/resource.js')).resourceOf(config, version);
  const pushes: Push[] = [];
  if (metrics) {
    const { pushMetrics } = await import('./export/metric-push.js');
    pushes.push(pushMetrics(metrics, { config, version, resource }));
  }
  if (traces) {
    const { pushTraces } = await import('./export/trace-push.js');
    pushes.push(pushTraces(traces, { config, version, resource }));
  }
  if (logs) {
    const { pushLogs } = await import('./export/log-push.js');
    pushes.push(pushLogs(logs, { config, version, resource }));
  }
  return pushes;
}

/** Every metric in the format that a scraper's `Accept` prefers; default: Prometheus's own. */
export const scrapedMetrics = (accept?: string): MetricsText => metricsText(CATALOGUE, accept);
