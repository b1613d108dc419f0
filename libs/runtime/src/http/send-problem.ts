import { hostname } from 'node:os';
import { type Problem, errorBody } from '@svc/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The host that made an error, for who runs many of them. */
export const HOST_NAME = hostname();

const RESET_HEADER = 'x-ratelimit-reset-requests';

/** Answers with a problem, as far as that is still possible. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  request.record.problem = problem;
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  tellWhenToRetry(problem, reply);
  reply.header('x-svc-host-name', HOST_NAME);
  // What did not come in time is not waited for. In all other cases a connection that closes while its client still
  // sends would show that client a broken pipe and not the answer: Fastify closes it after every fault of a body.
  if (problem.code === 'REQUEST_INCOMPLETE') reply.header('connection', 'close');
  else reply.removeHeader('connection');
  void reply
    .status(problem.status)
    .header('content-type', 'application/json')
    .send(JSON.stringify(problem.body ?? errorBody(problem)));
}

/** A 429 without a window of its own ends when a retry makes sense. */
function tellWhenToRetry({ status, retryAfterSeconds }: Problem, reply: FastifyReply): void {
  if (retryAfterSeconds === undefined) return;
  reply.header('retry-after', String(retryAfterSeconds));
  if (status !== 429 || reply.hasHeader(RESET_HEADER) || reply.raw.hasHeader(RESET_HEADER)) return;
  reply.header(RESET_HEADER, String(Math.ceil(Date.now() / 1_000) + retryAfterSeconds));
}
