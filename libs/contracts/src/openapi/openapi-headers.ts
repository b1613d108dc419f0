import type { Access, HeaderGroup, RouteDefinition } from '../http/route/route-definition.js';

type When =
  | 'always'
  | 'wallet'
  | 'paid'
  | 'error'
  | 'retry'
  | 'reset'
  | 'payment'
  | 'csv'
  | 'origin'
  | 'stream'
  | 'file'
  | HeaderGroup;

interface HeaderRow {
  readonly when: When | readonly When[];
  readonly type: 'string' | 'integer';
  readonly example: string | number;
  readonly description: string;
}

const row = (when: HeaderRow['when'], example: string | number, description: string): HeaderRow => ({
  when,
  type: typeof example === 'number' ? 'integer' : 'string',
  example,
  description,
});

/** The response headers: which responses have them, and what they mean. */
export const HEADERS: Readonly<Record<string, HeaderRow>> = {
  'CF-RAY': row('always', 'chatcmpl-0199f3a1c2d37b8e', 'The id of the request, for support.'),
  'x-request-id': row('always', 'chatcmpl-0199f3a1c2d37b8e', 'The same id.'),
  'x-svc-version': row('always', '20261121.101500', 'The revision of the service.'),
  Date: row('always', 'Sat, 21 Nov 2026 10:15:00 GMT', 'When the answer was made.'),
  'x-svc-host-name': row('error', 'gateway-5f7c', 'Which host made the error.'),
  'Retry-After': row('retry', 5, 'Seconds after which to try again.'),
  'PAYMENT-REQUIRED': row('payment', 'eyJ4NDAyVmVyc2lvbiI6Mn0=', 'Base64 of the JSON that says how to pay.'),
  'PAYMENT-RESPONSE': row(
    'paid',
    'eyJzdWNjZXNzIjp0cnVlfQ==',
    'Base64 of the JSON that says which transaction paid, on which network and who.',
  ),
  'Content-Encoding': row(
    ['encoding', 'file'],
    'gzip',
    '`gzip` or `br`, where the request accepts it. Never on streams.',
  ),
  'Content-Disposition': row(
    'csv',
    'attachment; filename=billing_usage.csv',
    'Where the answer is CSV: the name of the file.',
  ),
  'Cache-Control': row(['stream', 'file'], 'no-cache', 'Streams and files are asked for anew each time.'),
  'X-Accel-Buffering': row('stream', 'no', 'Proxies are not to hold a stream back.'),
  'X-Content-Type-Options': row('file', 'nosniff', 'The type is as it says.'),
  'Access-Control-Allow-Origin': row('origin', '*', 'Where the operator lets pages of that origin ask.'),
  'Access-Control-Expose-Headers': row('origin', '*', 'That those pages may read all headers.'),
  Vary: row(
    ['origin', 'csv', 'encoding', 'file'],
    'origin',
    'The headers of the request that the answer depends on.',
  ),
  'x-pagination-limit': row('pagination', 200, 'Entries per page.'),
  'x-pagination-page': row('pagination', 1, 'This page, from 1 on.'),
  'x-pagination-total': row('pagination', 1_280, 'Entries in all.'),
  'x-pagination-total-pages': row('pagination', 7, 'Pages in all.'),
  'x-next-cursor': row(
    'cursor',
    'WzEsMTc5NTI1NTI2MDAwMF0',
    'Where the answer is CSV: the next cursor, and none at the end.',
  ),
  'x-svc-model-id': row('model', 'llama-3.2-3b', 'The model that answered.'),
  'x-svc-model-name': row('model', 'Llama 3.2 3B', 'Its name.'),
  'x-svc-model-router': row('model', 'backend-1', 'The name of the backend that answered, where one did.'),
  'x-retry-count': row('model', 1, 'How often the request was tried again, where it was.'),
  'x-svc-model-deprecation-warning': row(
    'model',
    'The model llama-3.1-8b is deprecated and will be removed on 2026-12-01; use llama-3.2-3b instead.',
    'Only when a deprecated model was asked for.',
  ),
  'x-svc-model-deprecation-date': row(
    'model',
    '2026-11-01',
    'ISO 8601. Only when a deprecated model was asked for.',
  ),
  'x-svc-deprecated': row('model', 'true', 'Only when a deprecated model was asked for.'),
  'x-svc-deprecated-replacement': row(
    'model',
    'llama-3.2-3b',
    'The model to use in place of a deprecated one.',
  ),
  'x-ratelimit-limit-requests': row('limits', 500, 'Requests per window.'),
  'x-ratelimit-remaining-requests': row('limits', 499, 'Requests left in this window.'),
  'x-ratelimit-reset-requests': row(['limits', 'reset'], 1_795_255_260, 'Unix seconds when the window ends.'),
  'x-ratelimit-limit-tokens': row('limits', 1_000_000, 'Tokens per window, prompt and completion.'),
  'x-ratelimit-remaining-tokens': row('limits', 998_976, 'Tokens left in this window.'),
  'x-ratelimit-reset-tokens': row('limits', 42, 'Seconds until the window ends.'),
  'x-ratelimit-type': row(
    'limits',
    'user',
    'The limit nearest to being reached: `user`, `api_key` or `global`.',
  ),
  'x-svc-balance-usd': row('balances', '9.999988', 'US dollars on the account before the request.'),
  'X-Balance-Remaining': row(
    'wallet',
    '9.99',
    'US dollars that a signed-in wallet has after the request; on a stream, less what it holds as it begins.',
  ),
  'x-svc-balance-diem': row('balances', '0', 'DIEM on the account before the request.'),
};

/** The header groups of each error status, beside those of every error and of the route. */
const BY_STATUS: Readonly<Record<number, readonly When[]>> = {
  402: ['payment'],
  409: ['retry'],
  429: ['retry', 'reset'],
  503: ['retry'],
};

/** Groups that only successful responses have. */
const OF_SUCCESS: ReadonlySet<When> = new Set(['encoding', 'pagination', 'cursor', 'csv']);

/** The names of the headers that a response with this status may have. */
export function headersOf(route: RouteDefinition, status: number): string[] {
  const { access, csv, event, payment, replyType, headers = [] } = route;
  const groups = new Set<When>(['always', ...headers, ...CROSS_ORIGIN[access]]);
  if (access === 'key-or-wallet') groups.add('wallet');
  if (status < 400) {
    if (payment) groups.add('paid');
    if (csv) groups.add('csv');
    if (event) groups.add('stream');
    if (replyType !== undefined) groups.add('file');
  } else {
    groups.add('error');
    for (const group of BY_STATUS[status] ?? [])
      if (group !== 'payment' || payment || access === 'key-or-wallet') groups.add(group);
    for (const group of OF_SUCCESS) groups.delete(group);
  }
  const isThere = (when: When | readonly When[]): boolean => [when].flat().some((group) => groups.has(group));
  return Object.entries(HEADERS).flatMap(([name, { when }]) => (isThere(when) ? [name] : []));
}

/** Pages of other origins may call client routes, if the operator allows it. */
const CROSS_ORIGIN: Readonly<Record<Access, readonly When[]>> = {
  probe: [],
  public: ['origin'],
  key: ['origin'],
  admin: ['origin'],
  'key-or-wallet': ['origin'],
  operator: [],
  internal: [],
  metrics: [],
  process: [],
};
