import type { Access, HeaderGroup, RouteDefinition } from '@svc/api/route';

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
  | 'ranges'
  | 'range'
  | 'own id'
  | 'limits'
  | 'idempotency'
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
  'request-id': row('own id', 'msg_0199f3a1c2d37b8e', "The same id, where Anthropic's clients expect it."),
  'x-svc-version': row('always', '20261121.101500', 'The revision of the service.'),
  Date: row('always', 'Sat, 21 Nov 2026 10:15:00 GMT', 'When the response was created.'),
  'x-svc-host-name': row('error', 'gateway-5f7c', 'The host that returned the error.'),
  'Retry-After': row('retry', 5, 'Seconds to wait before a retry.'),
  'PAYMENT-REQUIRED': row('payment', 'eyJ4NDAyVmVyc2lvbiI6Mn0=', 'The ways to pay, as JSON in base64.'),
  'PAYMENT-RESPONSE': row(
    'paid',
    'eyJzdWNjZXNzIjp0cnVlfQ==',
    'The transaction that paid, its network and its payer, as JSON in base64.',
  ),
  'Accept-Ranges': row('ranges', 'bytes', 'That `Range` may name a part.'),
  'Content-Range': row('range', 'bytes 0-1023/4096', 'Which bytes these are, and how many there are.'),
  'Content-Encoding': row(
    ['encoding', 'file'],
    'gzip',
    '`gzip` or `br`, if the request accepts it. Never on streams.',
  ),
  'Content-Disposition': row(
    ['csv', 'media'],
    'attachment; filename=billing_usage.csv',
    'For files: their name.',
  ),
  'Cache-Control': row(
    ['stream', 'file'],
    'no-cache',
    'Streams and files must be requested again each time.',
  ),
  'X-Accel-Buffering': row('stream', 'no', 'Keeps proxies from buffering a stream.'),
  'X-Content-Type-Options': row(
    ['file', 'content', 'media'],
    'nosniff',
    'Browsers must not guess another type.',
  ),
  'Access-Control-Allow-Origin': row(
    'origin',
    '*',
    'Present if the operator allows web pages of that origin to call the API.',
  ),
  'Access-Control-Expose-Headers': row('origin', '*', 'Allows those pages to read all headers.'),
  Vary: row(
    ['origin', 'csv', 'encoding', 'file'],
    'origin',
    'The request headers that the response depends on.',
  ),
  'x-pagination-limit': row('pagination', 200, 'Entries per page.'),
  'x-pagination-page': row('pagination', 1, 'The number of this page, starting at 1.'),
  'x-pagination-total': row('pagination', 1_280, 'The total number of entries.'),
  'x-pagination-total-pages': row('pagination', 7, 'The total number of pages.'),
  'x-next-cursor': row(
    'cursor',
    'WzEsMTc5NTI1NTI2MDAwMF0',
    'For CSV: the cursor of the next page; absent on the last page.',
  ),
  'Idempotent-Replayed': row(
    'idempotency',
    'true',
    'Only if the request was accepted before; the response is that of then.',
  ),
  'x-svc-inference-time': row('media', '94', 'For media: the seconds from the request to the result.'),
  'x-svc-audio-format': row('media', 'mpeg', 'For music: its format.'),
  'x-svc-model-id': row('model', 'llama-3.2-3b', 'The id of the model that served the request.'),
  'x-svc-model-name': row('model', 'Llama 3.2 3B', 'The name of that model.'),
  'x-svc-model-router': row(
    ['model', 'rpc'],
    'backend-1',
    'The name of the backend that responded, if one did.',
  ),
  'x-retry-count': row('model', 1, 'The number of retries, if there were any.'),
  'x-svc-model-deprecation-warning': row(
    'model',
    'The model llama-3.1-8b is deprecated and will be removed on 2026-12-01; use llama-3.2-3b instead.',
    'Only if a deprecated model was requested.',
  ),
  'x-svc-model-deprecation-date': row(
    'model',
    '2026-11-01',
    'ISO 8601. Only if a deprecated model was requested.',
  ),
  'x-svc-deprecated': row('model', 'true', 'Only if a deprecated model was requested.'),
  'x-svc-deprecated-replacement': row(
    'model',
    'llama-3.2-3b',
    'The model to use in place of a deprecated one.',
  ),
  'x-svc-is-blurred': row('content', 'false', 'Whether an image was blurred. Always `false`.'),
  'x-svc-is-content-violation': row(
    'content',
    'false',
    'Whether an image violates a policy. Always `false`.',
  ),
  'x-svc-enhanced-prompt': row(
    'content',
    'A%20lighthouse%20in%20a%20storm%20at%20dusk',
    'The prompt of which the images were made, percent-encoded. Only if a model rewrote it.',
  ),
  'x-svc-is-adult-model-content-violation': row('content', 'false', 'The same for adult models.'),
  'x-ratelimit-limit-requests': row('limits', 500, 'Requests per window.'),
  'x-ratelimit-remaining-requests': row('limits', 499, 'Requests left in this window.'),
  'x-ratelimit-reset-requests': row(
    ['limits', 'reset'],
    1_795_255_260,
    'The end of this window, in Unix seconds.',
  ),
  'x-ratelimit-limit-tokens': row('limits', 1_000_000, 'Tokens per window, prompt and completion.'),
  'x-ratelimit-remaining-tokens': row('limits', 998_976, 'Tokens left in this window.'),
  'x-ratelimit-reset-tokens': row('limits', 42, 'Seconds until the window ends.'),
  'X-SVC-RPC-Credits': row('rpc', 20, 'The credits of all calls together.'),
  'X-SVC-RPC-Cost-USD': row('rpc', '0.000014000', 'Their price in US dollars.'),
  'X-SVC-RPC-Network': row('rpc', 'base-mainnet', 'The network.'),
  'X-RateLimit-Reset': row(
    'window',
    1_795_255_260,
    'The end of the window, in Unix seconds. Only on a 429, which has no `Retry-After` here.',
  ),
  'x-ratelimit-type': row(
    'limits',
    'user',
    'The limit nearest to being reached: `user`, `api_key` or `global`.',
  ),
  'x-svc-balance-usd': row('balances', '9.999988', 'US dollars on the account before the request.'),
  'X-Balance-Remaining': row(
    'wallet',
    '9.99',
    'The US dollars of a signed-in wallet after the request; on a stream, after deducting the initial hold.',
  ),
  'x-svc-balance-diem': row('balances', '0', 'DIEM on the account before the request.'),
};

/** The header groups of each error status, in addition to those of every error and of the route. */
const BY_STATUS: Readonly<Record<number, readonly When[]>> = {
  402: ['payment'],
  409: ['retry'],
  429: ['retry', 'reset'],
  503: ['retry'],
};

/** Groups that only successful responses have. */
const OF_SUCCESS: ReadonlySet<When> = new Set([
  'encoding',
  'pagination',
  'cursor',
  'csv',
  'content',
  'idempotency',
  'media',
  'rpc',
]);

/** The names of the headers that a response with this status may have. */
export function headersOf(route: RouteDefinition, status: number): string[] {
  const { access, admitted, csv, errors, event, payment, replyType, headers = [] } = route;
  const groups = new Set<When>([
    'always',
    ...headers,
    ...CROSS_ORIGIN[access],
    ...aboutRanges(route, status),
  ]);
  if (access === 'key-or-wallet') groups.add('wallet');
  if (admitted) groups.add('limits');
  if (admitted === 'once') groups.add('idempotency');
  if (errors?.idHeader !== undefined) groups.add('own id');
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

function aboutRanges({ hasRanges }: RouteDefinition, status: number): When[] {
  if (!hasRanges) return [];
  if (status === 416) return ['range'];
  return status === 206 ? ['range', 'ranges'] : status < 400 ? ['ranges'] : [];
}

/** Pages of other origins may call client routes, if the operator allows it. */
const CROSS_ORIGIN: Readonly<Record<Access, readonly When[]>> = {
  probe: [],
  public: ['origin'],
  key: ['origin'],
  admin: ['origin'],
  'key-or-wallet': ['origin'],
  console: [],
  desk: [],
  operator: [],
  internal: [],
  metrics: [],
  process: [],
};
