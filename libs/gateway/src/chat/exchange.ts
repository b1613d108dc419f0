import type { Caller, ChatRequest } from '@svc/contracts';
import type { JsonText, RequestRecord } from '@svc/runtime';
import type { AnswerWriter } from '../http/answer-writer.js';

/** A chat completion that was asked for and its client, for as long as the request lives. */
export interface Exchange {
  readonly requestId: string;
  readonly caller: Caller;
  /** The body, as its schema reads it and as it came. */
  readonly asked: ChatRequest;
  readonly json: JsonText;
  readonly record: RequestRecord;
  readonly client: AnswerWriter;
  /** How long its backend may send no event. */
  readonly silenceMs: number;
  /** How long it may wait, once it has begun, for a ledger that can't be asked. */
  readonly patienceMs: number;
}
