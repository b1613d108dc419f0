import type { RouteDefinition } from '@svc/contracts';
import { OTHER, requests } from '@svc/telemetry';
import type { FastifyRequest } from 'fastify';

type Duration = ReturnType<typeof requests.duration.with>;

/** The cells of each route by status, so that a request finds its own without a text being made. */
const durations = new WeakMap<RouteDefinition, Map<number, Duration>>();

const active = requests.active.with();

export function requestStarted(): void {
  active.value += 1;
}

/** Counts an answer that has ended. A path that nobody serves is told by no name of the client's. */
export function requestEnded(request: FastifyRequest, status: number): void {
  active.value -= 1;
  tellProblem(request);
  const seconds = (performance.now() - request.record.startedMs) / 1_000;
  const { matchedRoute } = request;
  if (!matchedRoute) return requests.duration.record(seconds, OTHER, OTHER, String(status));
  let cells = durations.get(matchedRoute);
  if (!cells) durations.set(matchedRoute, (cells = new Map<number, Duration>()));
  let cell = cells.get(status);
  if (!cell) {
    cell = requests.duration.with(matchedRoute.method, matchedRoute.path, String(status));
    cells.set(status, cell);
  }
  cell.record(seconds, request.traced?.trace.measured);
}

/** Few requests have one, so their cells need not be kept. */
function tellProblem({ record, matchedRoute }: FastifyRequest): void {
  const { problem, ended } = record;
  if (problem) requests.problems.add(1, matchedRoute?.path ?? OTHER, problem.code);
  if (ended !== undefined) requests.endedEarly.add(1, ended);
}
