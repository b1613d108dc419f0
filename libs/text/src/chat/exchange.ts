import type { Caller } from '@svc/contracts/ports';
import type { ChatRequest } from '@svc/api/chat';
import type { JsonText, RequestRecord } from '@svc/runtime';
import type { ClientDialect } from '../output/client-dialect.js';
import type { EncryptionHeaders } from '@svc/api/tee';
import type { OriginalRequest } from '../request/original-request.js';
import type { SearchTerms } from '../web/web-plan.js';
import type { ResponseWriter } from '@svc/paid/http';

/** A completion request and its client, for the lifetime of the request. */
export interface ChatExchange {
  readonly requestId: string;
  readonly caller: Caller;
  /** The body as parsed by its schema, and as received, or translated from that of another endpoint. */
  readonly chat: ChatRequest;
  readonly json: JsonText;
  readonly dialect: ClientDialect;
  /** The request as its client wrote it, for backends that have the API of its endpoint. */
  readonly original?: OriginalRequest | undefined;
  /** How to search, if the request wants a search. */
  readonly search?: SearchTerms | undefined;
  /** The headers that demand encryption. */
  readonly encryption: EncryptionHeaders | undefined;
  /** The session that the headers name. */
  readonly session: string | undefined;
  readonly record: RequestRecord;
  readonly client: ResponseWriter;
  /** How long the backend may send no event, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** How long a response that has begun may wait for an unavailable ledger, in milliseconds. */
  readonly ledgerTimeoutMs: number;
}
