import type { Caller, ChatRequest } from '@svc/contracts';
import type { RequestRecord } from '@svc/runtime';
import type { AnswerHeaders } from '../http/answer-headers.js';

/** A chat completion that was asked for. */
export interface ChatAsk {
  readonly requestId: string;
  readonly caller: Caller;
  /** The body, as its schema reads it and as it came. */
  readonly asked: ChatRequest;
  readonly text: string;
  readonly record: RequestRecord;
  readonly headers: AnswerHeaders;
  /** Aborted when the client has gone or its deadline has passed. */
  readonly signal: AbortSignal;
}
