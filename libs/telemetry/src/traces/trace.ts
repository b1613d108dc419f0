import { AsyncLocalStorage } from 'node:async_hooks';
import type { SpanAttributes } from './attributes.js';
import { errorType, isFailure } from './failures.js';
import { type RemoteSpan, newSpanId, traceparentOf } from './trace-context.js';

/**
 * The most steps of a trace; the later steps of a long response that keeps extending its hold are dropped.
 */
const MOST_STEPS = 128;

/**
 * How long work after the response still counts as part of its trace. Later work was merely started there,
 * like a loop that serves all requests and was started by the first one.
 */
const GOES_ON_MS = 5_000;

/** The numbers of OpenTelemetry's API. */
export const SPAN_KIND = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;
type SpanKind = (typeof SPAN_KIND)[keyof typeof SPAN_KIND];

/** Receives the spans of traces that are kept. */
export interface SpanSink {
  take(step: Step): void;
}

/** What is known of a trace when it begins in this process. */
export interface TraceOrigin {
  readonly traceId: string;
  /** The span of another process that is the parent of this part of the trace. */
  readonly parent?: RemoteSpan | undefined;
  /** Spans of other traces that led to this one. */
  readonly links?: readonly RemoteSpan[] | undefined;
  readonly isSampled: boolean;
}

/** How the first step of a trace begins. */
export interface FirstStep {
  readonly name: string;
  readonly kind: SpanKind;
  /** On the clock of `performance.now()`. */
  readonly startMs: number;
}

/** An event within a step. */
export interface Moment {
  readonly name: string;
  readonly atMs: number;
}

/**
 * The work of this process on one request, message or job: its steps, which become spans only if the trace is
 * kept.
 */
export class Trace {
  readonly root: Step;
  private steps: Step[] = [];
  private leftOut = 0;
  private hasFailed = false;
  private state: 'open' | 'kept' | 'dropped' = 'open';
  private endedMs = Number.POSITIVE_INFINITY;

  constructor(
    readonly origin: TraceOrigin,
    first: FirstStep,
    /** Without a sink nothing is recorded, and the trace is just an id. */
    private readonly sink: SpanSink | undefined,
  ) {
    this.root = new Step(this, undefined, first);
  }

  get id(): string {
    return this.origin.traceId;
  }

  get isRecorded(): boolean {
    return this.sink !== undefined && this.state !== 'dropped';
  }

  /** Whether current work still belongs to the trace. */
  get isLive(): boolean {
    return this.state === 'open' || performance.now() < this.endedMs + GOES_ON_MS;
  }

  /** Whether any of its steps failed, even if the request succeeded. */
  get isFailed(): boolean {
    return this.hasFailed;
  }

  /** The first span as the exemplar of a measurement, if it is certain to be exported. */
  get measured(): RemoteSpan | undefined {
    if (this.sink === undefined || this.state === 'dropped') return undefined;
    return this.state === 'kept' || this.origin.isSampled ? this.root.remote() : undefined;
  }

  begin(name: string, parent: Step): Step | undefined {
    if (this.sink === undefined || this.state === 'dropped') return undefined;
    if (this.steps.length >= MOST_STEPS) {
      this.leftOut += 1;
      return undefined;
    }
    const step = new Step(this, parent, { name, kind: SPAN_KIND.internal, startMs: performance.now() });
    this.steps.push(step);
    return step;
  }

  fail(): void {
    this.hasFailed = true;
  }

  /** A step that ends after its trace was kept is exported on its own. */
  ended(step: Step): void {
    if (this.state === 'kept') this.sink?.take(step);
  }

  /** Exports all steps so far, and from now on each step as it ends. */
  keep(): void {
    if (this.state !== 'open') return;
    this.state = 'kept';
    this.endedMs = performance.now();
    if (this.leftOut > 0) this.root.set({ 'svc.steps.left_out': this.leftOut });
    for (const step of [this.root, ...this.steps]) if (step.hasEnded) this.sink?.take(step);
    this.steps = [];
  }

  /** Drops all steps so far. */
  drop(): void {
    if (this.state !== 'open') return;
    this.state = 'dropped';
    this.endedMs = performance.now();
    this.steps = [];
  }
}

/** A part of the work, with its times. Cheap to create: ids and spans are created on demand. */
export class Step {
  kind: SpanKind;
  readonly name: string;
  readonly startMs: number;
  endMs = 0;
  attributes: SpanAttributes | undefined;
  error: string | undefined;
  moments: Moment[] | undefined;
  private id: string | undefined;

  constructor(
    readonly trace: Trace,
    readonly parent: Step | undefined,
    { name, kind, startMs }: FirstStep,
  ) {
    this.name = name;
    this.kind = kind;
    this.startMs = startMs;
  }

  get spanId(): string {
    this.id ??= newSpanId();
    return this.id;
  }

  /** Whether its trace is recorded whatever the outcome. */
  get isSampled(): boolean {
    return this.trace.origin.isSampled;
  }

  get hasEnded(): boolean {
    return this.endMs > 0;
  }

  begin(name: string): Step | undefined {
    return this.trace.begin(name, this);
  }

  set(attributes: SpanAttributes): void {
    // The given object may be shared by all steps of its kind, so it is not modified.
    this.attributes = this.attributes ? { ...this.attributes, ...attributes } : attributes;
  }

  /** Records an event. */
  note(name: string): void {
    (this.moments ??= []).push({ name, atMs: performance.now() });
  }

  end(): void {
    if (this.hasEnded) return;
    this.endMs = performance.now();
    this.trace.ended(this);
  }

  /** A client's fault or a rejection does not count as a failure, but is recorded. */
  fail(error: unknown): void {
    if (this.hasEnded) return;
    const type = errorType(error);
    if (isFailure(error)) {
      this.error = type;
      this.trace.fail();
    }
    this.set({ 'error.type': type });
    this.end();
  }

  /** The step as an identifier for another process. */
  remote(): RemoteSpan {
    const { id: traceId, origin } = this.trace;
    return { traceId, spanId: this.spanId, isSampled: origin.isSampled };
  }

  /** The `traceparent` header that makes another process's work part of this step. */
  get traceparent(): string {
    if (this.kind === SPAN_KIND.internal) this.kind = SPAN_KIND.client;
    return traceparentOf(this.remote());
  }
}

/** The current step, across awaits. */
const current = new AsyncLocalStorage<Step | undefined>();

/** The step that the running code belongs to. */
export function currentStep(): Step | undefined {
  const step = current.getStore();
  return step?.trace.isLive === true ? step : undefined;
}

/** Runs work as part of a step. */
export const inStep = <T>(step: Step | undefined, work: () => T): T => current.run(step, work);

/** Runs work that serves many requests, such as a flush, outside of any step. */
export const untraced = <T>(work: () => T): T => current.run(undefined, work);

/** Begins a step without children. The caller must end it. */
export const beginStep = (name: string): Step | undefined => currentStep()?.begin(name);

/**
 * Runs work as a new step, with its own steps as children. Returns a promise if the work or a step does.
 * `on` is passed to the work, so that what every request does needs no closure.
 */
export function traced<Result, On>(
  name: string,
  work: (step: Step | undefined, on: On) => Result,
  on: On,
): Result | Promise<Awaited<Result>>;
export function traced<Result>(name: string, work: (step?: Step) => Promise<Result>): Promise<Result>;
export function traced<Result>(
  name: string,
  work: (step?: Step) => Result,
): Result | Promise<Awaited<Result>>;
export function traced<Result, On>(
  name: string,
  work: (step: Step | undefined, on: On | undefined) => Result,
  on?: On,
): Result | Promise<Awaited<Result>> {
  const step = beginStep(name);
  return step ? tracedIn(step, work, on) : work(undefined, on);
}

async function tracedIn<Result, On>(
  step: Step,
  work: (step: Step, on: On) => Result,
  on: On,
): Promise<Awaited<Result>> {
  try {
    return await current.run(step, work, step, on);
  } catch (error) {
    step.fail(error);
    throw error;
  } finally {
    step.end();
  }
}
