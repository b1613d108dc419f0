import { hostname } from 'node:os';
import { type Problem, errorBody } from '@svc/contracts/problems';
import type { Incoming, Outgoing } from './incoming.js';
import { errorsOf } from './route.js';

/** The host that produced an error, for operators of many hosts. */
export const HOST_NAME = hostname();

const RESET_HEADER = 'x-ratelimit-reset-requests';

/** Sends a problem as the response, as far as that is still possible. */
export function sendProblem(problem: Problem, request: Incoming, reply: Outgoing): void {
  request.record.problem = problem;
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  setRetryAfter(problem, reply);
  reply.header('x-svc-host-name', HOST_NAME);
  // After a timeout the rest of the body is not awaited. In all other cases the connection stays open:
  // Fastify would close it after every body error, and a client that is still sending would see a broken pipe
  // instead of the response.
  if (problem.code === 'REQUEST_INCOMPLETE') reply.header('connection', 'close');
  else reply.removeHeader('connection');
  void reply
    .status(problem.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(bodyOf(problem, request)));
}

function bodyOf(problem: Problem, request: Incoming): object {
  const shape = errorsOf(request);
  return shape
    ? { ...problem.body, ...shape.bodyOf(problem, request.id) }
    : (problem.body ?? errorBody(problem));
}

/** Sets `Retry-After`; for a 429 without its own window also the reset header. */
function setRetryAfter({ status, retryAfterSeconds }: Problem, reply: Outgoing): void {
  if (retryAfterSeconds === undefined) return;
  reply.header('retry-after', String(retryAfterSeconds));
  if (status !== 429 || reply.hasHeader(RESET_HEADER) || reply.raw.hasHeader(RESET_HEADER)) return;
  reply.header(RESET_HEADER, String(Math.ceil(Date.now() / 1_000) + retryAfterSeconds));
}
