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
  /** What the model is asked for. Default: chat. */
  operation?: 'embeddings';
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
  /** What goes on for a while where the client has gone; its line waits for that. */
  underWay?: Promise<void>;
}

/** The fields of a request's log line. */
export function requestLine(request: FastifyRequest, status: number): Record<string, unknown> {
  const { record } = request;
  const { problem } = record;
  // Every line has the same members, which makes it quick to write; those that are undefined are left out.
  return {
    id: request.id,
    trace_id: request.traced?.trace.id,
    method: request.method,
    route: request.matchedRoute?.path ?? 'none',
    status,
    durationMs: Math.round((performance.now() - record.startedMs) * 10) / 10,
    accountId: record.accountId,
    keyId: record.keyId,
    model: record.model,
    backend: record.backend,
    stream: record.stream,
    promptTokens: record.promptTokens,
    completionTokens: record.completionTokens,
    costUsd: record.costUsd,
    costDiem: record.costDiem,
    firstChunkMs: record.firstChunkMs,
    ended: record.ended,
    problem: problem?.code,
    cause: problem && problem.status >= 500 ? causeOf(problem) : undefined,
  };
}

/** What led to a problem, in one line a cause. Stack traces are kept only for what nobody foresaw. */
function causeOf(problem: Problem): string | undefined {
  const { cause } = problem;
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : undefined;
  return problem.code === 'UNKNOWN_ERROR' ? cause.stack : `${cause.name}: ${cause.message}`;
}
