import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, type ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { untraced } from '../traces/trace.js';
import { logLines } from './log-lines.js';
import { type OtlpTarget, type Push, type PushOptions, stopWithin } from './otlp-target.js';
import { hrTime } from './spans.js';

/** Lines waiting to be sent; further ones are dropped here, but are still on stdout. */
const QUEUE = 4_096;

/** OpenTelemetry's severity numbers. */
const SEVERITY: Readonly<Record<string, number>> = {
  trace: 1,
  debug: 5,
  info: 9,
  warn: 13,
  error: 17,
  fatal: 21,
};

type Common = Pick<ReadableLogRecord, 'resource' | 'instrumentationScope'>;

/** Sends the log by OTLP as well, in batches. */
export function pushLogs(target: OtlpTarget, { version, resource }: PushOptions): Push {
  const { url, headers, timeoutMs } = target;
  const exporter = new OTLPLogExporter({ url, headers, timeoutMillis: timeoutMs });
  const processor = new BatchLogRecordProcessor({
    exporter,
    maxQueueSize: QUEUE,
    exportTimeoutMillis: timeoutMs,
  });
  const common: Common = { resource, instrumentationScope: { name: '@svc/telemetry', version } };
  const end = logLines.takenBy((line) =>
    untraced(() => processor.onEmit(recordOf(line, common) as Parameters<typeof processor.onEmit>[0])),
  );
  return {
    stop: () => {
      end();
      return stopWithin(processor.shutdown());
    },
  };
}

/** A log line as a record of OpenTelemetry's libraries. */
function recordOf(line: string, common: Common): ReadableLogRecord {
  const { level, time, msg, trace_id: traceId, ...members } = JSON.parse(line) as Record<string, unknown>;
  const at = hrTime(Date.parse(String(time)));
  return {
    ...common,
    hrTime: at,
    hrTimeObserved: at,
    severityText: String(level).toUpperCase(),
    severityNumber: SEVERITY[String(level)] ?? 0,
    body: String(msg),
    ...(typeof traceId === 'string' && { spanContext: { traceId, spanId: '', traceFlags: 0 } }),
    attributes: Object.fromEntries(Object.entries(members).map(([name, value]) => [name, flat(value)])),
    droppedAttributesCount: 0,
  };
}

/** Anything but a primitive value is sent as JSON. */
const flat = (value: unknown): string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value);
