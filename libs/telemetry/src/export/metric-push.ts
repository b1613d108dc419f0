import { OTLPMetricExporterBase } from '@opentelemetry/exporter-metrics-otlp-http';
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http';
import { MetricsExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { CATALOGUE } from '../instruments/catalogue.js';
import { serializerWithExemplars } from './otlp-exemplars.js';
import { CellProducer } from './otlp-metrics.js';
import { type OtlpTarget, type Push, type PushOptions, stopWithin } from './otlp-target.js';

/** Sends every metric by OTLP, at the configured interval. */
export function pushMetrics(target: OtlpTarget, { config, version, resource }: PushOptions): Push {
  const reader = new PeriodicExportingMetricReader({
    exporter: exporterTo(target),
    exportIntervalMillis: config.OTEL_METRIC_EXPORT_INTERVAL,
    exportTimeoutMillis: Math.min(target.timeoutMs, config.OTEL_METRIC_EXPORT_INTERVAL),
    metricProducers: [new CellProducer(CATALOGUE, { name: '@svc/telemetry', version })],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { stop: () => stopWithin(provider.shutdown()) };
}

/** OpenTelemetry's protobuf exporter of metrics, with our own serializer. */
function exporterTo({ url, headers, timeoutMs }: OtlpTarget): OTLPMetricExporterBase {
  const delegate = createOtlpHttpExportDelegate(
    {
      url,
      headers: () => Promise.resolve({ ...headers, 'Content-Type': 'application/x-protobuf' }),
      timeoutMillis: timeoutMs,
      // The reader waits for an export before it begins the next.
      concurrencyLimit: 1,
      compression: 'none',
      agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
    },
    serializerWithExemplars,
    'otlp_http_metric_exporter',
    MetricsExporterMetricsHelper,
    undefined,
  );
  return new OTLPMetricExporterBase(delegate);
}
