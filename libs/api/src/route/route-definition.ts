import type { z } from 'zod';
import type { Problem, ProblemCode } from '@svc/contracts/problems';

/**
 * Who may use a route:
 * - `probe`: anyone on any port, without authentication;
 * - `public`: anyone, but any credentials must be valid;
 * - `key`: the holder of an API key; `admin`: of an ADMIN key; `key-or-wallet`: of an API key or a wallet;
 * - `console`: a page of the console, with or without a session;
 * - `operator`: the operator, on a separate port;
 * - `desk`: anyone on that port: the files of a page that asks for the operator's token;
 * - `internal`: processes of the same deployment;
 * - `process`: the operator or, in a process without an operator's port, any holder of its internal token;
 * - `metrics`: metrics readers, on the operator's port or, in a process without one, on its only port.
 */
export type Access =
  | 'probe'
  | 'public'
  | 'key'
  | 'admin'
  | 'key-or-wallet'
  | 'console'
  | 'operator'
  | 'desk'
  | 'internal'
  | 'process'
  | 'metrics';

/** The scopes of an operator's token: read, move money, or manage accounts and their keys. */
export const OPERATOR_SCOPES = ['read', 'money', 'keys'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** Headers that a response may have in addition to those of every response. */
export type HeaderGroup =
  'model' | 'balances' | 'encoding' | 'content' | 'pagination' | 'cursor' | 'media' | 'rpc' | 'window';

/** The errors of a route whose clients expect another body than OpenAI's. */
export interface ErrorShape {
  readonly schema: z.ZodType;
  readonly bodyOf: (problem: Problem, requestId: string) => object;
  /** The header in which these clients expect the request id, in addition to the common one. */
  readonly idHeader?: string;
}

export interface RouteDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for each parameter, or `*` for one that is the rest of the path. */
  readonly path: `/${string}`;
  readonly operationId: string;
  /** A section of the published description: one of `TAGS`. */
  readonly tag: string;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly access: Access;
  /**
   * The scope that an operator's token needs; default: `read`, which suits only routes that change nothing.
   */
  readonly scope?: OperatorScope;
  readonly status: number;
  /**
   * That its requests are rate limited; the limiter then also reports whether their caller is blocked.
   * - `once`: those with the same `Idempotency-Key` are made and charged once;
   * - `always`: each is made, because it only reads.
   */
  readonly admitted?: 'once' | 'always';
  /** Whether its response names a job, which a repetition finds by the id of the first request. */
  readonly ordersJob?: true;
  /** Whether it costs nothing, though its requests are limited as those that are sold. */
  readonly isFree?: true;
  /** The prefix of its request ids; default: `req-`. */
  readonly idPrefix?: `${string}${'-' | '_'}`;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** A route without one reads no body. */
  readonly body?: z.ZodType;
  /**
   * Whether its body is passed on and never stored, so that its texts may have characters that PostgreSQL
   * does not store.
   */
  readonly passesBody?: true;
  /**
   * Recognises common JSON bodies that the schema accepts and returns unchanged, at a fraction of its cost.
   * All others are left to the schema.
   */
  readonly isPlainBody?: (body: unknown) => boolean;
  /**
   * The content types of a body, if not only JSON: the handler gets JSON and the members of a form as values
   * of one schema, and the raw bytes of any other type.
   */
  readonly bodyType?: string | readonly string[];
  /**
   * Whether the bytes of a body count as received until the response ends, because they are needed until
   * then. Those of a form always do.
   */
  readonly keepsBody?: true;
  /** Whether the handler reads the body while it is received, and checks it. */
  readonly streamsBody?: true;
  /** The most bytes of a body, as sent and as decoded; default: 64 KiB. */
  readonly bodyLimitBytes?: number;
  readonly reply: z.ZodType;
  /** Whether its texts may be encrypted between the client and an enclave. */
  readonly mayBeEncrypted?: true;
  /** Whether a request without anything to respond to gets a 204. */
  readonly mayBeEmpty?: true;
  /** Whether a request with `Range` gets a 206 with a part of the reply. */
  readonly hasRanges?: true;
  /** The content type of a reply that is not JSON, or all that it may have. */
  readonly replyType?: string | readonly string[];
  /** Whether the reply is plain text if the body requests that. */
  readonly plainText?: true;
  /** The types of a file that may replace the reply. */
  readonly fileTypes?: readonly string[];
  /** Whether the reply is CSV if `Accept` prefers that. */
  readonly csv?: true;
  /** The data of each event, if the reply may be a stream. */
  readonly event?: z.ZodType;
  /** Whether each event has its type as its name, and an error is an event like the others. */
  readonly namedEvents?: true;
  /** Whether `data: [DONE]` follows the last named event, as it does where events have no names. */
  readonly hasEndMark?: true;
  readonly headers?: readonly HeaderGroup[];
  /** The body of its errors, if it is not the common envelope. */
  readonly errors?: ErrorShape;
  /** Whether it accepts x402 payments: its errors have their own body, and a 402 describes how to pay. */
  readonly payment?: true;
  /** Its error codes, in addition to those of every route with its access. */
  readonly refusals: readonly ProblemCode[];
}
