import { z } from 'zod';
import {
  type Issue,
  Problem,
  errorBody,
  PROBLEMS,
  type ProblemCode,
  type ProblemKind,
} from '@svc/contracts/problems';
import type { Access, ErrorShape, RouteDefinition } from '@svc/api/route';

const KINDS = [
  ...new Set(Object.values(PROBLEMS).map(({ kind }) => kind)),
  // The type of CONTENT_POLICY_VIOLATION in failed jobs.
  'provider_content_policy',
] satisfies ProblemKind[];

const ErrorView = z
  .object({
    message: z.string(),
    type: z.enum(KINDS),
    param: z.string().nullable().describe('The invalid field of the request.'),
    code: z
      .string()
      .describe(
        '`code`, or the one of OpenAI: `context_length_exceeded`, `content_policy_violation`, or in lower case `e2ee_attestation_stale`, `e2ee_plaintext_from_backend`.',
      ),
    retry_after: z
      .number()
      .optional()
      .describe('Seconds to wait before a retry. Only in events of a stream, which cannot send headers.'),
  })
  .meta({ title: 'ErrorObject' });

/** An event of a stream that fails after it has begun. */
export const StreamError = z.object({ error: ErrorView });

/** The body of every error. */
export const ErrorEnvelope = z.object({
  error: ErrorView,
  code: z.string().describe('The error code.'),
  details: z
    .looseObject({ _errors: z.array(z.string()) })
    .optional()
    .describe('The validation errors as a tree: each field has its own in `_errors`.'),
  issues: z
    .array(
      z.looseObject({
        code: z.string(),
        path: z.array(z.union([z.string(), z.int()])),
        message: z.string(),
      }),
    )
    .optional()
    .describe('The validation errors as a list.'),
});

/** What each error status means for the client. */
export const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is invalid. `details` and `issues` name the invalid fields.',
  401: 'The credentials are wrong, or the model is for paid accounts only.',
  402: 'The balance is insufficient, or the request has no credentials.',
  403: 'The credentials do not permit this, or the account is suspended.',
  404: 'Not found.',
  405: 'The route does not support this method; `Allow` lists those it does.',
  408: 'The request was not received in time.',
  409: 'The request conflicts with the current state.',
  410: 'No longer available.',
  413: 'The body is too large.',
  415: 'The content type or the encoding of the body is not supported.',
  416: 'The content has none of the bytes of the range.',
  422: 'The request was refused because of its content. It was not charged.',
  431: 'The headers of the request are too large.',
  429: 'Too many requests or tokens. `x-ratelimit-reset-requests` and `Retry-After` show when to retry.',
  500: 'The request failed because of an error in the service. Retry with exponential backoff.',
  502: 'No backend of the model has an acceptable attestation, or none has the signature.',
  503: 'Temporarily unavailable. Retry after the number of seconds in `Retry-After`.',
  504: 'The request took too long. Set `stream: true` for long completions.',
};

/** Error codes of every route. */
const ANY: readonly ProblemCode[] = ['HEADERS_TOO_LARGE', 'UNKNOWN_ERROR', 'UNAVAILABLE'];

/** Error codes of every client route: wrong credentials, a suspended account, and too many failures. */
const CLIENT_REFUSALS: readonly ProblemCode[] = [
  'AUTHENTICATION_FAILED',
  'ACCOUNT_SUSPENDED',
  'ADDRESS_NOT_ALLOWED',
  'ENDPOINT_NOT_ALLOWED',
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
  console: CLIENT_REFUSALS,
  desk: ANY,
  operator: ['AUTHENTICATION_FAILED', 'UNAUTHORIZED', ...ANY],
  internal: ['AUTHENTICATION_FAILED', ...ANY],
  metrics: ['AUTHENTICATION_FAILED', 'UNAUTHORIZED', ...ANY],
  process: ['AUTHENTICATION_FAILED', 'UNAUTHORIZED', ...ANY],
};

const OF_IDEMPOTENCY: readonly ProblemCode[] = [
  'REQUEST_IN_PROGRESS',
  'REQUEST_ALREADY_MADE',
  'IDEMPOTENCY_KEY_REUSED',
];

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
  const ofKeys: readonly ProblemCode[] = route.admitted === 'once' ? OF_IDEMPOTENCY : [];
  const codes = new Set([...route.refusals, ...ofBodies, ...ofKeys, ...ALWAYS[route.access]]);
  const inOrder = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => codes.has(code));
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of inOrder) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

const SAMPLE_ID = 'req_0199f3a1c2d37b8e';

const SAMPLE_ISSUE: Issue = {
  code: 'too_big',
  path: ['temperature'],
  message: 'must be at most 2',
};

/** An error body with this code, produced by the production code. */
export function errorExample(code: ProblemCode, errors?: ErrorShape): { summary: string; value: unknown } {
  const details = code === 'INVALID_REQUEST' ? { issues: [SAMPLE_ISSUE], param: 'temperature' } : {};
  const problem = new Problem(code, details);
  const value = errors ? errors.bodyOf(problem, SAMPLE_ID) : errorBody(problem);
  return { summary: PROBLEMS[code].message, value };
}
