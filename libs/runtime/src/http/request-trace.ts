import type { RouteDefinition } from '@svc/api/route';
import { type SpanAttributes, type Step, type Trace, genAi, inStep, tracing } from '@svc/telemetry';
import type { Incoming, Next } from './incoming.js';

/** The telemetry of a request. */
export interface TracedRequest {
  readonly trace: Trace;
  /** Receiving the body: from authentication to its last byte. */
  receiving: Step | undefined;
}

/** The length of the part of a request id that is its trace id. */
const ID_DIGITS = 32;

/**
 * Runs the access check of a route and continues with its result. A neighbour's `traceparent` is used only
 * after the neighbour has authenticated.
 */
export function enterTraced(
  request: Incoming,
  route: RouteDefinition,
  { enter, next }: { enter: (next: Next) => void; next: Next },
): void {
  if (route.access === 'probe' || route.access === 'metrics') return enter(next);
  if (route.access === 'internal') {
    enter((error) => {
      const trace = error
        ? undefined
        : tracing.forNeighbour({
            ...arrivalOf(request, route),
            traceparent: request.headers['traceparent'],
          });
      if (trace) request.traced = { trace, receiving: undefined };
      next(error);
    });
    return;
  }
  const trace = tracing.forClient(arrivalOf(request, route));
  const traced: TracedRequest = { trace, receiving: undefined };
  request.traced = traced;
  const { root } = trace;
  const asking = root.begin('authenticate');
  const passed = (error?: Error): void => {
    if (error) asking?.fail(error);
    else asking?.end();
    if (!error && route.body) traced.receiving = root.begin('receive');
    next(error);
  };
  inStep(asking ?? root, () => enter(passed));
}

/** Continues in the request's trace, whichever callback read its body. */
export function continueTraced(request: Incoming, goOn: () => void): void {
  const { traced } = request;
  if (!traced) return goOn();
  traced.receiving?.end();
  inStep(traced.trace.root, goOn);
}

/** Ends the trace of a request whose response has ended, with the attributes of its log line. */
export function endTrace(request: Incoming, status: number): void {
  const { traced, record } = request;
  if (!traced) return;
  const { trace } = traced;
  const { problem, ended, startedMs, firstChunkMs } = record;
  const hasFailed = status >= 500 || ended === 'cut' || (problem !== undefined && problem.status >= 500);
  if (hasFailed) trace.root.error = problem?.code ?? String(status);
  tracing.end(trace, {
    failed: hasFailed,
    waitedMs: firstChunkMs ?? performance.now() - startedMs,
    describe: () => attributesOf(request, { status, error: trace.root.error }),
  });
}

function arrivalOf(request: Incoming, { method, path }: RouteDefinition) {
  return {
    name: `${method} ${path}`,
    id: request.id.slice(-ID_DIGITS),
    startMs: request.record.startedMs,
    headers: request.headers,
  };
}

function attributesOf(
  request: Incoming,
  { status, error }: { readonly status: number; readonly error: string | undefined },
): SpanAttributes {
  const { record, matchedRoute } = request;
  const { problem } = record;
  return {
    'http.request.method': request.method,
    'http.route': matchedRoute?.path,
    'http.response.status_code': status,
    'error.type': error,
    'svc.request.id': request.id,
    'svc.account.id': record.accountId,
    'svc.key.id': record.keyId,
    'svc.problem': problem?.code,
    'svc.ended': record.ended,
    'svc.backend': record.backend,
    'svc.cost.usd': record.costUsd,
    'svc.cost.diem': record.costDiem,
    ...(record.model !== undefined && { ...genAi, 'gen_ai.operation.name': record.operation ?? 'chat' }),
    'gen_ai.request.model': record.model,
    'gen_ai.request.stream': record.stream,
    'gen_ai.response.time_to_first_chunk':
      record.firstChunkMs === undefined ? undefined : record.firstChunkMs / 1_000,
    'gen_ai.usage.input_tokens': record.promptTokens,
    'gen_ai.usage.output_tokens': record.completionTokens,
  };
}
