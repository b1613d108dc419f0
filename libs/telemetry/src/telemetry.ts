import { CATALOGUE } from './instruments/catalogue.js';
import { type MetricsText, metricsText } from './export/prometheus-text.js';
import { sentSignals, withoutEffect } from './config/otel.config.js';
import { readProcess } from './process/process-readings.js';
import type { TelemetryOptions } from './config/telemetry-options.js';

/** Telemetry that runs until the process ends. */
export interface RunningTelemetry {
  /** Sends what has not been sent yet, for at most 2 s. */
  stop(): Promise<void>;
}

/**
 * Starts the telemetry of this process: its own readings, and OTLP if an endpoint is set. Only then are
 * OpenTelemetry's libraries loaded.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<RunningTelemetry> {
  const { config, env, version, log } = options;
  const settings = withoutEffect(config, env);
  if (settings.length > 0) log.warn({ settings }, 'some OTEL_ settings have no effect');
  const endReadings = readProcess(config.OTEL_SERVICE_NAME, version);
  const sent = sentSignals(config);
  const stopSdk = sent.size > 0 ? (await import('./export/sdk.js')).startSdk(options, sent) : undefined;
  return {
    stop: async () => {
      await stopSdk?.();
      endReadings();
    },
  };
}

/** Every metric in the format that a scraper's `Accept` prefers; default: Prometheus's own. */
export const scrapedMetrics = (accept?: string): MetricsText => metricsText(CATALOGUE, accept);
