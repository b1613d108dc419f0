import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { CATALOGUE } from '../instruments/catalogue.js';
import { CellProducer } from './otlp-metrics.js';
import { type OtlpTarget, type Push, type PushOptions, stopWithin } from './otlp-target.js';

/** Sends every metric by OTLP, at the interval of the settings. */
export function pushMetrics(target: OtlpTarget, { config, version, resource }: PushOptions): Push {
  const { url, headers, timeoutMs } = target;
  const exporter = new OTLPMetricExporter({ url, headers, timeoutMillis: timeoutMs });
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: config.OTEL_METRIC_EXPORT_INTERVAL,
    exportTimeoutMillis: Math.min(timeoutMs, config.OTEL_METRIC_EXPORT_INTERVAL),
    metricProducers: [new CellProducer(CATALOGUE, { name: '@svc/telemetry', version })],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { stop: () => stopWithin(provider.shutdown()) };
}
