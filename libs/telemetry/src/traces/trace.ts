import { AsyncLocalStorage } from 'node:async_hooks';
import type { SpanAttributes } from './attributes.js';
import { errorType, isFailure } from './failures.js';
import { type RemoteSpan, newSpanId, traceparentOf } from './trace-context.js';

/** A trace has no more steps than this; those of a long answer that holds money again and again are left out. */
const MOST_STEPS = 128;

/**
 * What goes on behind an answer is a part of its trace for so long. Later work has only been begun there, as a loop that
 * serves all requests is by the first of them.
 */
const GOES_ON_MS = 5_000;

/** By the numbers of OpenTelemetry's API. */
export const SPAN_KIND = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;
type SpanKind = (typeof SPAN_KIND)[keyof typeof SPAN_KIND];

/** Takes the spans of traces that are kept. */
export interface SpanSink {
  tell(step: Step): void;
}

/** What is known of a trace when it begins in this process. */
export interface TraceOrigin {
  readonly traceId: string;
  /** The span of another process that this part of the trace belongs to. */
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

/** What happened at a moment of a step. */
export interface Moment {
  readonly name: string;
  readonly atMs: number;
}

/** What this process does for one request, message or job: its steps, which become spans only if it is kept. */
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
    /** Without one nothing is recorded, and the trace is an id. */
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

  /** Whether what is done is still done for it. */
  get isLive(): boolean {
    return this.state === 'open' || performance.now() < this.endedMs + GOES_ON_MS;
  }

  /** Whether a step of it failed, be it that the request did not. */
  get isFailed(): boolean {
    return this.hasFailed;
  }

  /** The first span as the exemplar of a measurement, where it is certain that the span is exported. */
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

  /** What ends after its trace was kept is told by itself. */
  ended(step: Step): void {
    if (this.state === 'kept') this.sink?.tell(step);
  }

  /** Tells what there is, and from now on what ends later. */
  keep(): void {
    if (this.state !== 'open') return;
    this.state = 'kept';
    this.endedMs = performance.now();
    if (this.leftOut > 0) this.root.set({ 'svc.steps.left_out': this.leftOut });
    for (const step of [this.root, ...this.steps]) if (step.hasEnded) this.sink?.tell(step);
    this.steps = [];
  }

  /** Forgets what there is. */
  drop(): void {
    if (this.state !== 'open') return;
    this.state = 'dropped';
    this.endedMs = performance.now();
    this.steps = [];
  }
}

/** A part of what is done, with its time. Cheap to make: ids and spans are made when they are asked for. */
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

  /** Whether its trace is recorded whatever comes of it. */
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
    // What is given may be shared by all steps of its kind, and is not changed.
    this.attributes = this.attributes ? { ...this.attributes, ...attributes } : attributes;
  }

  /** Notes that something happened. */
  note(name: string): void {
    (this.moments ??= []).push({ name, atMs: performance.now() });
  }

  end(): void {
    if (this.hasEnded) return;
    this.endMs = performance.now();
    this.trace.ended(this);
  }

  /** What a client did or is refused is no failure of ours, but it is told. */
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

  /** The step as another process is told of it. */
  remote(): RemoteSpan {
    const { id: traceId, origin } = this.trace;
    return { traceId, spanId: this.spanId, isSampled: origin.isSampled };
  }

  /** The header that makes what another process does a part of this step. */
  get traceparent(): string {
    if (this.kind === SPAN_KIND.internal) this.kind = SPAN_KIND.client;
    return traceparentOf(this.remote());
  }
}

/** Which step the code at hand is a part of, over all waits. */
const current = new AsyncLocalStorage<Step | undefined>();

/** The step that the code at hand is a part of. */
export function currentStep(): Step | undefined {
  const step = current.getStore();
  return step?.trace.isLive === true ? step : undefined;
}

/** Runs work as a part of a step. */
export const inStep = <T>(step: Step | undefined, work: () => T): T => current.run(step, work);

/** Runs work that serves many requests, such as a flush, and is a part of none. */
export const untraced = <T>(work: () => T): T => current.run(undefined, work);

/** Begins a step that has no parts. To be ended by whoever began it. */
export const beginStep = (name: string): Step | undefined => currentStep()?.begin(name);

/** Does work as a step of its own, with what it does as its parts. */
export function traced<T>(name: string, work: (step?: Step) => Promise<T>): Promise<T> {
  const step = beginStep(name);
  return step ? tracedIn(step, work) : work();
}

async function tracedIn<T>(step: Step, work: (step: Step) => Promise<T>): Promise<T> {
  try {
    return await current.run(step, work, step);
  } catch (error) {
    step.fail(error);
    throw error;
  } finally {
    step.end();
  }
}
