import type { Attributes, HrTime, Link, SpanContext } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { SpanAttributes } from '../traces/attributes.js';
import type { RemoteSpan } from '../traces/trace-context.js';
import type { Step } from '../traces/trace.js';

/** The allowed drift between the clock of steps and the system clock, which may be adjusted. */
const CLOCK_DRIFT_MS = 5;

const SAMPLED = 1;
const STATUS_UNSET = { code: 0 };

/** A step as a span of OpenTelemetry's libraries. */
export function spanOf(
  step: Step,
  common: Pick<ReadableSpan, 'resource' | 'instrumentationScope'>,
): ReadableSpan {
  const { origin, root } = step.trace;
  const context: SpanContext = { traceId: origin.traceId, spanId: step.spanId, traceFlags: SAMPLED };
  const isRoot = step === root;
  const parent = step.parent ? contextOf(step.parent.remote()) : origin.parent && remoteOf(origin.parent);
  const offsetMs = clockOffsetMs();
  return {
    ...common,
    name: step.name,
    kind: step.kind,
    spanContext: () => context,
    ...(parent && { parentSpanContext: parent }),
    startTime: hrTime(step.startMs + offsetMs),
    endTime: hrTime(step.endMs + offsetMs),
    duration: hrTime(step.endMs - step.startMs),
    status: step.error === undefined ? STATUS_UNSET : { code: 2, message: step.error },
    attributes: present(step.attributes),
    links: isRoot ? linksOf(origin.links) : [],
    events: (step.moments ?? []).map(({ name, atMs }) => ({ name, time: hrTime(atMs + offsetMs) })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Attributes that have a value: OTLP would export the others as empty. */
const present = (attributes: SpanAttributes = {}): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined && value !== ''));

const contextOf = ({ traceId, spanId }: RemoteSpan): SpanContext => ({
  traceId,
  spanId,
  traceFlags: SAMPLED,
});

const remoteOf = (span: RemoteSpan): SpanContext => ({
  ...contextOf(span),
  traceFlags: span.isSampled ? SAMPLED : 0,
  isRemote: true,
});

const linksOf = (links: readonly RemoteSpan[] = []): Link[] =>
  links.map((link) => ({ context: remoteOf(link) }));

/** From the clock of steps to Unix time. */
function clockOffsetMs(): number {
  const { timeOrigin } = performance;
  const measured = Date.now() - performance.now();
  return Math.abs(measured - timeOrigin) > CLOCK_DRIFT_MS ? measured : timeOrigin;
}

export function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}
