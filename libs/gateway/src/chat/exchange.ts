import type { Caller, ChatRequest } from '@svc/contracts';
import type { JsonText, RequestRecord } from '@svc/runtime';
import type { AnswerWriter } from '../http/answer-writer.js';

/** A chat completion request and its client, for the lifetime of the request. */
export interface ChatExchange {
  readonly requestId: string;
  readonly caller: Caller;
  /** The body as parsed by its schema, and as received. */
  readonly asked: ChatRequest;
  readonly json: JsonText;
  readonly record: RequestRecord;
  readonly client: AnswerWriter;
  /** How long the backend may send no event, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** How long a response that has begun may wait for an unavailable ledger, in milliseconds. */
  readonly ledgerTimeoutMs: number;
}
