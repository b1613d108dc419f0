import { type AnyValue, createContextKey, type Logger, ROOT_CONTEXT } from '@opentelemetry/api';
import type { LogRecordProcessor } from '@opentelemetry/sdk-logs';
import { untraced } from '../traces/trace.js';
import { logLines } from './log-lines.js';

/** OpenTelemetry's severity numbers. */
const SEVERITY: Readonly<Record<string, number>> = {
  trace: 1,
  debug: 5,
  info: 9,
  warn: 13,
  error: 17,
  fatal: 21,
};

const TRACE_ID = createContextKey('trace id');

/** A line names its trace but no span, which the SDK would take for no trace at all. */
export const traceOfLine: LogRecordProcessor = {
  onEmit: (record, context) => {
    const traceId = context?.getValue(TRACE_ID);
    if (typeof traceId === 'string') record.spanContext = { traceId, spanId: '', traceFlags: 0 };
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

/** Passes every line of the log to the SDK. Returns a function that ends that. */
export const emitLines = (logger: Logger): (() => void) =>
  logLines.takenBy((line) => untraced(() => emit(line, logger)));

function emit(line: string, logger: Logger): void {
  const { level, time, msg, trace_id: traceId, ...members } = JSON.parse(line) as Record<string, unknown>;
  logger.emit({
    timestamp: Date.parse(String(time)),
    severityText: String(level).toUpperCase(),
    severityNumber: SEVERITY[String(level)] ?? 0,
    body: String(msg),
    attributes: Object.fromEntries(Object.entries(members).map(([name, value]) => [name, flat(value)])),
    context: ROOT_CONTEXT.setValue(TRACE_ID, traceId),
  });
}

/** Anything but a primitive value is sent as JSON. */
const flat = (value: unknown): AnyValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value);
