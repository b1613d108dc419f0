import type { SpanAttributes } from './attributes.js';
import { type RemoteSpan, readTraceparent, samplerOf } from './trace-context.js';
import { type FirstStep, SPAN_KIND, type SpanSink, type Step, Trace, inStep } from './trace.js';

export interface TracingSettings {
  /** The share of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether the sampled flag of a parent decides instead, if there is one. */
  readonly asksParent: boolean;
  /** Requests that take longer are kept. */
  readonly slowMs: number;
  /** The most kept per second, separately for failed and for slow requests. */
  readonly keptPerSecond: number;
  /**
   * Whether a client's trace is continued with its sampled flag; otherwise a trace of our own is linked to
   * it.
   */
  readonly continuesClients: boolean;
  readonly propagation: Propagation;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The headers by which our traces and those of clients and backends are linked. */
export interface Propagation {
  /** The span that a client's headers name. */
  extract(headers: Headers): RemoteSpan | undefined;
  /** Adds headers that name a span to those for a backend, if backends are to know. */
  inject(span: RemoteSpan, headers: Record<string, string>): void;
}

/** An incoming request. */
interface Arrival {
  readonly name: string;
  /** 32 hex digits, of which the last 14 are random. */
  readonly id: string;
  readonly startMs: number;
  readonly traceparent: string | string[] | undefined;
}

/** A request of a client. */
type ClientArrival = Omit<Arrival, 'traceparent'> & { readonly headers: Headers };

/** How a trace ended. */
interface TraceEnd {
  readonly failed: boolean;
  /** The waiting time that is compared with `slowMs`. */
  readonly waitedMs: number;
  /** The attributes of its first span, requested only if the trace is kept. */
  readonly describe?: () => SpanAttributes;
}

const OFF: TracingSettings = {
  ratio: 0,
  asksParent: true,
  slowMs: Number.POSITIVE_INFINITY,
  keptPerSecond: 0,
  continuesClients: false,
  propagation: { extract: () => undefined, inject: () => undefined },
};

/** A limit per second: an outage fails every request, and a few of their traces show as much as all. */
class Budget {
  private left: number;
  private filledMs = performance.now();

  constructor(private readonly perSecond: number) {
    this.left = perSecond;
  }

  take(): boolean {
    const nowMs = performance.now();
    const more = ((nowMs - this.filledMs) / 1_000) * this.perSecond;
    this.left = Math.min(this.perSecond, this.left + more);
    this.filledMs = nowMs;
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}

/**
 * The traces of this process. An unsampled trace is a list of times until it ends, and is exported anyway if
 * it failed or was slow. Without a sink a trace is just an id, for logs and neighbours.
 */
class Tracing {
  private settings = OFF;
  private sink: SpanSink | undefined;
  private isSampled = samplerOf(0);
  /**
   * Separate, so that slow requests leave room for failed ones: long completions of large models are normally
   * slow.
   */
  private budgets = { failed: new Budget(0), slow: new Budget(0) };

  /** Records from now on. Returns a function that ends that. */
  record(settings: TracingSettings, sink: SpanSink): () => void {
    this.settings = settings;
    this.sink = sink;
    this.isSampled = samplerOf(settings.ratio);
    const { keptPerSecond } = settings;
    this.budgets = { failed: new Budget(keptPerSecond), slow: new Budget(keptPerSecond) };
    return () => {
      if (this.sink !== sink) return;
      this.settings = OFF;
      this.sink = undefined;
      this.isSampled = samplerOf(0);
    };
  }

  /** Adds the headers that make a backend's work part of this step, if backends are to know. */
  toBackend(step: Step, headers: Record<string, string>): void {
    this.settings.propagation.inject(step.remote(), headers);
  }

  /** The trace of a client's request. The client's sampled flag counts only if its trace is continued. */
  forClient({ name, id, startMs, headers }: ClientArrival): Trace {
    const parent = this.settings.propagation.extract(headers);
    const first: FirstStep = { name, kind: SPAN_KIND.server, startMs };
    if (parent && this.settings.continuesClients) return this.continued(parent, first);
    const origin = { traceId: id, isSampled: this.isSampled(id), ...(parent && { links: [parent] }) };
    return new Trace(origin, first, this.sink);
  }

  /** The work on a neighbour's call as part of its trace; `undefined` if it has none. */
  forNeighbour({ name, startMs, traceparent }: Omit<Arrival, 'id'>): Trace | undefined {
    const parent = readTraceparent(traceparent);
    return parent && this.continued(parent, { name, kind: SPAN_KIND.server, startMs });
  }

  /** Work on messages of several traces, recorded if one of them is. */
  forMessages(name: string, links: readonly RemoteSpan[], id: string): Trace {
    const isSampled = links.some((link) => link.isSampled);
    const first: FirstStep = { name, kind: SPAN_KIND.consumer, startMs: performance.now() };
    return new Trace({ traceId: id, isSampled, links }, first, this.sink);
  }

  /** Work on one message, as part of the trace of its sender, if any. */
  forMessage({ name, id, startMs, traceparent }: Arrival): Trace {
    const parent = readTraceparent(traceparent);
    const first: FirstStep = { name, kind: SPAN_KIND.consumer, startMs };
    if (parent) return this.continued(parent, first);
    return new Trace({ traceId: id, isSampled: this.isSampled(id) }, first, this.sink);
  }

  /** Ends a trace and decides whether to keep it. */
  end(trace: Trace, { failed, waitedMs, describe }: TraceEnd): void {
    if (!trace.isRecorded) return trace.drop();
    trace.root.end();
    const { isSampled } = trace.origin;
    const reason = failed || trace.isFailed ? 'failed' : 'slow';
    const isReported = isSampled || reason === 'failed' || waitedMs > this.settings.slowMs;
    if (!isReported || !(isSampled || this.budgets[reason].take())) return trace.drop();
    if (!isSampled) trace.root.set({ 'svc.kept': reason });
    if (describe) trace.root.set(describe());
    trace.keep();
  }

  /** Runs work as a complete trace. */
  async run<T>(trace: Trace, work: () => Promise<T>): Promise<T> {
    const { root } = trace;
    try {
      return await inStep(root, work);
    } catch (error) {
      root.fail(error);
      throw error;
    } finally {
      this.end(trace, { failed: false, waitedMs: performance.now() - root.startMs });
    }
  }

  private continued(parent: RemoteSpan, first: FirstStep): Trace {
    const { traceId } = parent;
    const isSampled = this.settings.asksParent ? parent.isSampled : this.isSampled(traceId);
    return new Trace({ traceId, parent, isSampled }, first, this.sink);
  }
}

/** A process has one tracing, as it has one log. */
export const tracing = new Tracing();
