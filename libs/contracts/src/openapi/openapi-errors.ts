import { z } from 'zod';
import { type Issue, Problem, errorBody } from '../problems/problem.js';
import { PROBLEMS, type ProblemCode, type ProblemKind } from '../problems/problems.js';
import type { Access, RouteDefinition } from '../http/route/route-definition.js';

const KINDS = [...new Set(Object.values(PROBLEMS).map(({ kind }) => kind))] satisfies ProblemKind[];

const ErrorView = z.object({
  message: z.string(),
  type: z.enum(KINDS),
  param: z.string().nullable().describe('The field of the request that is at fault.'),
  code: z.string().describe('`code`, or `context_length_exceeded` for `TOO_MANY_TOKENS`.'),
  retry_after: z.number().optional().describe('Seconds. In an event of a stream, which has no headers.'),
});

/** An event of a stream that fails after it has begun. */
export const StreamError = z.object({ error: ErrorView });

/** The body of every error. */
export const ErrorEnvelope = z.object({
  error: ErrorView,
  code: z.string().describe('What went wrong.'),
  details: z
    .looseObject({ _errors: z.array(z.string()) })
    .optional()
    .describe('The faults of a request as a tree: under each field its own, as `_errors`.'),
  issues: z
    .array(
      z.looseObject({
        code: z.string(),
        path: z.array(z.union([z.string(), z.int()])),
        message: z.string(),
      }),
    )
    .optional()
    .describe('The faults of a request as a list.'),
});

/** What each error status means for the client. */
export const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is at fault. Faulty fields are named in `details` and `issues`.',
  401: 'The credentials are wrong, or the model is for paid accounts only.',
  402: 'Payment is needed: more credit, or any credentials at all.',
  403: 'The credentials do not allow this, or their account is suspended.',
  404: 'There is no such thing.',
  405: 'The route takes other methods, which `Allow` names.',
  408: 'The request was not received in time.',
  409: 'It contradicts what is already there.',
  410: 'It was there once and is no more.',
  413: 'The body is too large.',
  415: 'The body is not JSON, or encoded in a way that is not read.',
  431: 'The headers of the request are too large.',
  429: 'Too many requests or tokens. `x-ratelimit-reset-requests` and `Retry-After` say when to try again.',
  500: 'The request failed on this side. Try again, each time after a longer pause.',
  503: 'Not possible at the moment. Try again after the seconds of `Retry-After`.',
  504: 'It took too long. Set `stream: true` for long answers.',
};

/** Error codes of every route. */
const ANY: readonly ProblemCode[] = ['HEADERS_TOO_LARGE', 'UNKNOWN_ERROR', 'UNAVAILABLE'];

/** Error codes of every client route: wrong credentials, a suspended account, and too many failures. */
const CLIENT_REFUSALS: readonly ProblemCode[] = [
  'AUTHENTICATION_FAILED',
  'ACCOUNT_SUSPENDED',
  'RATE_LIMIT_EXCEEDED',
  ...ANY,
];

/** Further error codes of routes that accept wallet sign-ins. */
const WALLET_REFUSALS = (Object.keys(PROBLEMS) as ProblemCode[]).filter(
  (code) => code.startsWith('X402_SIGN_IN_') || code === 'X402_NOT_CONFIGURED',
);

/** Error codes of every route with this access. */
const ALWAYS: Readonly<Record<Access, readonly ProblemCode[]>> = {
  probe: ANY,
  public: [...CLIENT_REFUSALS, ...WALLET_REFUSALS],
  'key-or-wallet': [...CLIENT_REFUSALS, ...WALLET_REFUSALS, 'PAYMENT_REQUIRED'],
  key: CLIENT_REFUSALS,
  admin: CLIENT_REFUSALS,
  operator: ['AUTHENTICATION_FAILED', 'UNAUTHORIZED', ...ANY],
  internal: ['AUTHENTICATION_FAILED', ...ANY],
  metrics: ['AUTHENTICATION_FAILED', 'UNAUTHORIZED', ...ANY],
  process: ['AUTHENTICATION_FAILED', 'UNAUTHORIZED', ...ANY],
};

/** The error codes of a route, by status. */
export function refusalsByStatus(route: RouteDefinition): Map<number, ProblemCode[]> {
  const ofBodies: ProblemCode[] = route.body
    ? [
        'INVALID_REQUEST',
        'INVALID_JSON',
        'REQUEST_INCOMPLETE',
        'PAYLOAD_TOO_LARGE',
        'INVALID_CONTENT_TYPE',
        'INVALID_CONTENT_ENCODING',
        'TOO_MUCH_AT_ONCE',
      ]
    : [];
  const codes = new Set([...route.refusals, ...ofBodies, ...ALWAYS[route.access]]);
  const inOrder = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => codes.has(code));
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of inOrder) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

const SAMPLE_ISSUE: Issue = {
  code: 'too_big',
  path: ['temperature'],
  message: 'Too big: expected number to be <=2',
};

/** An error body with this code, produced by the production code. */
export function errorExample(code: ProblemCode): { summary: string; value: unknown } {
  const details = code === 'INVALID_REQUEST' ? { issues: [SAMPLE_ISSUE], param: 'temperature' } : {};
  return { summary: PROBLEMS[code].message, value: errorBody(new Problem(code, details)) };
}
