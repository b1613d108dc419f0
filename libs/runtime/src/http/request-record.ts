import type { Problem } from '@svc/contracts/problems';
import type { Incoming } from './incoming.js';

/**
 * The fields of a request's one log line beyond its route and status, filled in along the way. Never a
 * prompt, a completion or a key.
 */
export interface RequestRecord {
  readonly startedMs: number;
  accountId?: string;
  keyId?: string;
  model?: string;
  /** The model's operation. Default: chat. */
  operation?:
    | 'embeddings'
    | 'rerank'
    | 'moderation'
    | 'speech'
    | 'transcription'
    | 'translation'
    | 'image'
    | 'generate_content';
  backend?: string;
  stream?: boolean;
  promptTokens?: number;
  completionTokens?: number;
  costUsd?: string;
  costDiem?: string;
  /** From the start of the request to the first chunk of the response. */
  firstChunkMs?: number;
  /** How the response ended, if the status does not show it: `client_gone`, `cut`, `stopped`. */
  ended?: string;
  problem?: Problem;
  /** Work that continues after the client has disconnected; the log line waits for it. */
  underWay?: WorkUnderWay | undefined;
}

export interface WorkUnderWay {
  /** Resolves when the work is over. */
  readonly over: Promise<void>;
}

/** The fields of a request's log line. */
export function requestLine(request: Incoming, status: number): Record<string, unknown> {
  const { record } = request;
  const { problem } = record;
  // Every line has the same members, which is faster to serialize; undefined ones are left out.
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

/** The causes of a problem, one per line. Stack traces are kept only for unexpected errors. */
function causeOf(problem: Problem): string | undefined {
  const { cause } = problem;
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : undefined;
  return problem.code === 'UNKNOWN_ERROR' ? cause.stack : `${cause.name}: ${cause.message}`;
}
