import type { z } from 'zod';
import type { ProblemCode } from '../../problems/problems.js';

/**
 * Who may use a route:
 * - `probe`: anybody on any port, without being asked who they are;
 * - `public`: anybody, but credentials that are shown must be right;
 * - `key`: the holder of an API key; `admin`: of an ADMIN key; `key-or-wallet`: of an API key or a wallet;
 * - `operator`: the operator, on a port of its own;
 * - `internal`: the processes of the same deployment;
 * - `process`: the operator, or whoever knows the secret of the deployment where a process has no port for operators;
 * - `metrics`: who reads metrics, on the operator's port or, in a process without one, on its only port.
 */
export type Access =
  'probe' | 'public' | 'key' | 'admin' | 'key-or-wallet' | 'operator' | 'internal' | 'process' | 'metrics';

/** What a token of an operator may do: look, move money, or manage accounts and their keys. */
export const OPERATOR_SCOPES = ['read', 'money', 'keys'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** The groups that the published description is divided into, in its order. */
export const TAGS = {
  Chat: 'Conversations, answered whole or as a stream.',
  Embeddings: 'Texts as vectors.',
  Models: 'What is offered, what it costs and what it can do.',
  Characters: 'Personas that a conversation can have.',
  'API keys': 'The keys of an account, for the holder of an ADMIN key.',
  'Rate limits': 'What fits into a minute, and what did not.',
  Web: 'What conversations get from the web, by itself.',
  Billing: 'What an account has and what it used, for the holder of an ADMIN key.',
  Wallets: 'Credit for wallets, which need no account.',
  Description: 'This description.',
  Accounts: 'Accounts, their credit and their keys.',
  Ledger: 'The books.',
  Payments: 'What wallets have paid, and what became of it.',
  Health: 'Whether the process lives and can serve.',
  Limits: 'What requests take from limits, between processes.',
  Inference: 'Answers of backends, between processes.',
  Retrieval: 'What is in files and on the web, between processes.',
} as const;

/** Headers that an answer may have beside those of every answer. */
export type HeaderGroup = 'model' | 'limits' | 'balances' | 'encoding' | 'pagination' | 'cursor';

export interface RouteDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for each parameter, or `*` for one that is all of the path that is left. */
  readonly path: `/${string}`;
  readonly operationId: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly access: Access;
  /** What an operator's token needs for it; default: `read`, which suits only what changes nothing. */
  readonly scope?: OperatorScope;
  readonly status: number;
  /** Whether its requests ask the limits, which tell then whether their caller is blocked. */
  readonly admitted?: true;
  /** What the ids of its requests begin with; default: `req-`. */
  readonly idPrefix?: `${string}-`;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** A route without one reads no body. */
  readonly body?: z.ZodType;
  /** The content type of a body that is not JSON: a form's members are given, of all others the bytes as they came. */
  readonly bodyType?: string;
  /** The most bytes of a body, as sent and as decoded; default: 64 KiB. */
  readonly bodyLimitBytes?: number;
  readonly reply: z.ZodType;
  /** The content type of a reply that is not JSON. */
  readonly replyType?: string;
  /** Whether the reply is plain text instead where the body asks for it. */
  readonly plainText?: true;
  /** Whether the reply is CSV instead where `Accept` prefers it. */
  readonly csv?: true;
  /** The data of each event, where the reply may be a stream of them. */
  readonly event?: z.ZodType;
  readonly headers?: readonly HeaderGroup[];
  /** Whether it takes payments by x402: what it refuses has a body of its own, and 402 says how to pay. */
  readonly payment?: true;
  /** What it may refuse with, beside what every route of its kind of access may. */
  readonly refusals: readonly ProblemCode[];
}
