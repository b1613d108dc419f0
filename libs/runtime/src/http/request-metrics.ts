import type { RouteDefinition } from '@svc/api/route';
import { OTHER, requests } from '@svc/telemetry';
import type { Incoming } from './incoming.js';

type Duration = ReturnType<typeof requests.duration.with>;

/** The instruments of each route by status, so that recording a request builds no strings. */
const durations = new WeakMap<RouteDefinition, Map<number, Duration>>();

const active = requests.active.with();

export function requestStarted(): void {
  active.value += 1;
}

/** Counts a response that has ended. An unknown path is not used as a label. */
export function requestEnded(request: Incoming, status: number): void {
  active.value -= 1;
  countProblem(request);
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

/** Problems are rare, so their instruments are not cached. */
function countProblem({ record, matchedRoute }: Incoming): void {
  const { problem, ended } = record;
  if (problem) requests.problems.add(1, matchedRoute?.path ?? OTHER, problem.code);
  if (ended !== undefined) requests.endedEarly.add(1, ended);
}
