import {
  type Attributes,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { IdGenerator } from '@opentelemetry/sdk-trace';
import type { SpanAttributes } from '../traces/attributes.js';
import type { RemoteSpan } from '../traces/trace-context.js';
import { type SpanSink, type Step, untraced } from '../traces/trace.js';

/** The allowed drift between the clock of steps and the system clock, which may be adjusted. */
const CLOCK_DRIFT_MS = 5;

const SAMPLED = 1;

/** Makes spans of steps that have ended. The SDK asks for their ids, which neighbours may know already. */
export class StepSpans implements SpanSink, IdGenerator {
  private step: Step | undefined;

  constructor(private readonly tracer: () => Tracer) {}

  readonly generateTraceId = (): string => this.step?.trace.id ?? '';
  readonly generateSpanId = (): string => this.step?.spanId ?? '';

  take(step: Step): void {
    this.step = step;
    // The timer is started by the first span of a batch, and must not belong to its trace.
    untraced(() => this.export(step));
  }

  private export(step: Step): void {
    const { origin, root } = step.trace;
    const parent = step.parent ? contextOf(step.parent.remote()) : origin.parent && remoteOf(origin.parent);
    const offsetMs = clockOffsetMs();
    const span = this.tracer().startSpan(
      step.name,
      {
        kind: step.kind,
        startTime: step.startMs + offsetMs,
        attributes: present(step.attributes),
        links: step === root ? (origin.links ?? []).map((link) => ({ context: remoteOf(link) })) : [],
      },
      parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
    );
    for (const { name, atMs } of step.moments ?? []) span.addEvent(name, atMs + offsetMs);
    if (step.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: step.error });
    span.end(step.endMs + offsetMs);
  }
}

/** Attributes that have a value: OTLP would export the others as empty. */
const present = (attributes: SpanAttributes = {}): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined && value !== ''));

const contextOf = ({ traceId, spanId }: RemoteSpan): SpanContext => ({
  traceId,
  spanId,
  traceFlags: SAMPLED,
});

/** A span of another process, in the terms of OpenTelemetry's API. */
export const remoteOf = (span: RemoteSpan): SpanContext => ({
  ...contextOf(span),
  traceFlags: span.isSampled ? SAMPLED : 0,
  isRemote: true,
});

/** From the clock of steps to Unix time. */
function clockOffsetMs(): number {
  const { timeOrigin } = performance;
  const measured = Date.now() - performance.now();
  return Math.abs(measured - timeOrigin) > CLOCK_DRIFT_MS ? measured : timeOrigin;
}
