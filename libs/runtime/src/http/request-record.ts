import type { Problem } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';

/**
 * What the one log line of a request says beyond its route and status. Filled on the request's way.
 * Never a prompt, an answer or a key.
 */
export interface RequestRecord {
  readonly startedMs: number;
  accountId?: string;
  keyId?: string;
  model?: string;
  backend?: string;
  stream?: boolean;
  promptTokens?: number;
  completionTokens?: number;
  costUsd?: string;
  costDiem?: string;
  /** From the request's start to the first chunk of its answer. */
  firstChunkMs?: number;
  /** How the answer ended, where that is not told by the status: `client_gone`, `cut`, `stopped`. */
  ended?: string;
  problem?: Problem;
}

/** The fields of a request's log line. */
export function requestLine(request: FastifyRequest, status: number): Record<string, unknown> {
  const { startedMs, problem, ...fields } = request.record;
  const line: Record<string, unknown> = {
    id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    status,
    durationMs: Math.round((performance.now() - startedMs) * 10) / 10,
    ...fields,
  };
  if (problem) {
    line['problem'] = problem.code;
    if (problem.status >= 500) line['cause'] = causeOf(problem);
  }
  return line;
}

/** What led to a problem, in one line a cause. Stack traces are kept only for what nobody foresaw. */
function causeOf(problem: Problem): string | undefined {
  const { cause } = problem;
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : undefined;
  return problem.code === 'UNKNOWN_ERROR' ? cause.stack : `${cause.name}: ${cause.message}`;
}
