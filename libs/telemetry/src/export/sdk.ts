import {
  diag,
  type DiagLogFunction,
  logs,
  metrics,
  propagation,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import { diagLogLevelFromString, setGlobalErrorHandler } from '@opentelemetry/core';
import {
  defaultResource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { BatchLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { AlwaysOnSampler } from '@opentelemetry/sdk-trace';
import { CATALOGUE } from '../instruments/catalogue.js';
import { type Signal, samplingOf } from '../config/otel.config.js';
import type { TelemetryOptions } from '../config/telemetry-options.js';
import { type Propagation, tracing } from '../traces/tracing.js';
import { EXPORTERS, protocolOf } from './exporters.js';
import { watched } from './export-watch.js';
import { emitLines, traceOfLine } from './log-records.js';
import { addExemplars } from './otlp-exemplars.js';
import { CellProducer } from './otlp-metrics.js';
import { remoteOf, StepSpans } from './spans.js';

/** How long the end of a process waits for unsent data. */
const STOP_MS = 2_000;

const NAME = '@svc/telemetry';
/** The conventions that names of metrics and attributes follow. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.44.0';

/**
 * Starts OpenTelemetry's SDK for these signals. It gets metrics from our instruments, spans from the traces
 * that are kept and records from the lines of the log. Returns a function that sends what has not been sent
 * yet, for at most 2 s.
 */
export function startSdk(options: TelemetryOptions, sent: ReadonlySet<Signal>): () => Promise<void> {
  const { config, version, log } = options;
  setDiagnostics(options);
  const scope = [NAME, version, { schemaUrl: SCHEMA_URL }] as const;
  const spans = new StepSpans(() => trace.getTracerProvider().getTracer(...scope));
  const given = {
    // Neither the host nor the process: their names and arguments may be secret.
    resourceDetectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
    resource: defaultResource().merge(resourceFromAttributes(ownAttributes(options))),
    contextManager: null as never,
    idGenerator: spans,
    // Only traces that are kept become spans.
    sampler: new AlwaysOnSampler(),
    ...(sent.has('TRACES')
      ? { traceExporter: watched(new EXPORTERS.TRACES[protocolOf(config, 'TRACES')](), 'TRACES', log) }
      : { spanProcessors: [] }),
    metricReaders: sent.has('METRICS') ? [readerOf(options)] : [],
    logRecordProcessors: sent.has('LOGS') ? [traceOfLine, lineProcessor(options)] : [],
  };
  // The SDK would log to the console if the environment sets a level, and warn of replacing our log.
  diag.disable();
  const sdk = new NodeSDK(given);
  setDiagnostics(options);
  sdk.start();
  const ends = [
    ...(sent.has('TRACES') ? [recordTraces(options, spans)] : []),
    ...(sent.has('LOGS') ? [emitLines(logs.getLogger(...scope))] : []),
  ];
  return async () => {
    for (const end of ends) end();
    await stopWithin(sdk.shutdown());
    for (const api of [trace, metrics, logs, propagation, diag]) api.disable();
  };
}

/** The source: this run of this process. What the environment names wins. */
const ownAttributes = ({ config, version }: TelemetryOptions) => ({
  'service.name': config.OTEL_SERVICE_NAME,
  'service.version': version,
  'service.instance.id': crypto.randomUUID(),
});

function readerOf({ config, version, log }: TelemetryOptions): PeriodicExportingMetricReader {
  addExemplars();
  const { OTEL_METRIC_EXPORT_INTERVAL: intervalMs, OTEL_METRIC_EXPORT_TIMEOUT: timeoutMs } = config;
  return new PeriodicExportingMetricReader({
    exporter: watched(new EXPORTERS.METRICS[protocolOf(config, 'METRICS')](), 'METRICS', log),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(timeoutMs, intervalMs),
    metricProducers: [new CellProducer(CATALOGUE, { name: NAME, version, schemaUrl: SCHEMA_URL })],
  });
}

const lineProcessor = ({ config, log }: TelemetryOptions): BatchLogRecordProcessor =>
  new BatchLogRecordProcessor({
    exporter: watched(new EXPORTERS.LOGS[protocolOf(config, 'LOGS')](), 'LOGS', log),
    maxQueueSize: config.OTEL_BLRP_MAX_QUEUE_SIZE,
    maxExportBatchSize: Math.min(config.OTEL_BLRP_MAX_EXPORT_BATCH_SIZE, config.OTEL_BLRP_MAX_QUEUE_SIZE),
    scheduledDelayMillis: config.OTEL_BLRP_SCHEDULE_DELAY,
    exportTimeoutMillis: config.OTEL_BLRP_EXPORT_TIMEOUT,
  });

/** Records traces from now on. */
function recordTraces({ config }: TelemetryOptions, spans: StepSpans): () => void {
  const settings = {
    ...samplingOf(config),
    slowMs: config.SVC_TRACES_SLOW_MS,
    keptPerSecond: config.SVC_TRACES_KEPT_PER_SECOND,
    continuesClients: config.SVC_TRACES_OF_CLIENTS === 'continue',
    propagation: propagationOf(config.SVC_TRACES_TO_BACKENDS === 'true'),
  };
  return tracing.record(settings, spans);
}

/** Reads and writes the headers that OTEL_PROPAGATORS names. */
const propagationOf = (isSentToBackends: boolean): Propagation => ({
  extract: (headers) => {
    const span = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers));
    if (!span || !trace.isSpanContextValid(span)) return undefined;
    const { traceId, spanId, traceFlags } = span;
    return { traceId, spanId, isSampled: (traceFlags & 1) !== 0 };
  },
  inject: (span, headers) => {
    if (isSentToBackends) propagation.inject(trace.setSpanContext(ROOT_CONTEXT, remoteOf(span)), headers);
  },
});

/** The SDK's own messages, in the log of the process. Failed exports are logged by their watch. */
function setDiagnostics({ config, log }: TelemetryOptions): void {
  const at =
    (level: 'warn' | 'debug'): DiagLogFunction =>
    (message, ...more) =>
      log[level](more.length === 0 ? {} : { more: more.map(String) }, message);
  const [warn, debug] = [at('warn'), at('debug')];
  diag.setLogger(
    { error: warn, warn, info: debug, debug, verbose: debug },
    { logLevel: diagLogLevelFromString(config.OTEL_LOG_LEVEL), suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) =>
    log.debug({ reason: error instanceof Error ? error.message : error }, 'OpenTelemetry reports an error'),
  );
}

/** Data that can't be delivered is dropped, and does not delay the exit. */
async function stopWithin(stopping: Promise<void>): Promise<void> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
  await Promise.race([stopping.catch(() => undefined), late]);
}
