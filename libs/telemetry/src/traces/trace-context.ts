import { randomBytes } from 'node:crypto';

/** A span of another process, as identified by `traceparent`: https://www.w3.org/TR/trace-context-2/ */
export interface RemoteSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A later version may append further fields to those of the first. */
const LONGEST = 512;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;

/** The span that a `traceparent` header identifies; `undefined` if it is missing, malformed or forbidden. */
export function readTraceparent(text: string | string[] | undefined): RemoteSpan | undefined {
  if (typeof text !== 'string' || text.length < 55 || text.length > LONGEST) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** The `traceparent` of a span, for other processes. */
export function traceparentOf({ traceId, spanId, isSampled }: RemoteSpan): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The start of the part of a trace id that decides sampling: 56 random bits. */
const RANDOM_DIGITS_FROM = 18;

/**
 * Decides which traces are recorded: a share of them, by the random end of their id, so that all processes
 * with the same ratio decide alike.
 * https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/
 */
export function samplerOf(ratio: number): (traceId: string) => boolean {
  if (ratio <= 0) return () => false;
  const least = Math.round((1 - Math.min(ratio, 1)) * 2 ** 56);
  const leastDigits = least.toString(16).padStart(14, '0');
  return (traceId) => traceId.slice(RANDOM_DIGITS_FROM) >= leastDigits;
}

const IDS_AT_ONCE = 512;
let digits = '';
let at = 0;

/** 16 random hex digits. Drawn in bulk, which costs a tenth of separate draws. */
export function newSpanId(): string {
  if (at >= digits.length) {
    digits = randomBytes(8 * IDS_AT_ONCE).toString('hex');
    at = 0;
  }
  const id = digits.slice(at, at + 16);
  at += 16;
  return id === NO_SPAN ? newSpanId() : id;
}
