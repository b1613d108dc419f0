/** A failure that Schemathesis reports, with the reason why the behaviour is correct. */
export interface KnownFailure {
  /** The name of its check. */
  readonly check: string;
  /** `METHOD /path`; default: every one. */
  readonly operation?: string;
  readonly status: number;
  /** In the message of the error. */
  readonly says?: RegExp;
  readonly why: string;
}

/** Every operation that returns completions, or counts the tokens of one. */
const COMPLETIONS = [
  'POST /chat/completions',
  'POST /completions',
  'POST /responses',
  'POST /messages',
  'POST /messages/count_tokens',
  'POST /responses/input_tokens',
];

/** A request that fits its schema may still be refused. */
const refused = (operation: string, says: RegExp, why: string): KnownFailure => ({
  check: 'positive_data_acceptance',
  operation,
  status: 400,
  says,
  why,
});

const TOGETHER = 'OpenAPI has no way to say which parameters of a query go together.';
const NO_CLOCK = 'A schema has no clock.';
const NO_STEPS = 'Steps of 1e-9 are no step of binary numbers.';
const OF_MODEL = 'What a model takes stands in the catalogue, and the description is of all models.';
const OF_DEPLOYMENT = 'The description is the same for deployments that have it.';
const NO_CHAIN = 'The deployment of this test has no chain to be paid on, which the answer says.';

export const KNOWN_FAILURES: readonly KnownFailure[] = [
  {
    check: 'positive_data_acceptance',
    status: 400,
    says: /must not contain NUL or unpaired surrogate characters/,
    why: 'Every text would need a pattern, and names that are not described have none.',
  },
  {
    check: 'positive_data_acceptance',
    status: 400,
    says: /This Idempotency-Key has already been used for a different request/,
    why: 'A schema does not know which keys have been used.',
  },
  {
    check: 'positive_data_acceptance',
    status: 400,
    says: /may have \d+ [\w ]+\. (?:Delete|Revoke) one before you create another/,
    why: 'A schema does not know how many there are.',
  },
  {
    check: 'positive_data_acceptance',
    status: 400,
    says: /must be in the future/,
    why: NO_CLOCK,
  },
  {
    check: 'positive_data_acceptance',
    status: 400,
    says: /must name each \w+ once|must not be that of another/,
    why: 'A schema compares whole items and not one member of each.',
  },
  {
    check: 'positive_data_acceptance',
    status: 400,
    says: /send the models to fall back to in either models or fallbacks|until is only for `draining` and `off`/,
    why: 'Which members go together is a rule about their values that the description does not have.',
  },
  {
    check: 'positive_data_acceptance',
    status: 400,
    says: /\b(?:models|fallbacks|fallbackModels)\.\d+(?:\.model)?: Specified model not found/,
    why: 'A schema does not know which models there are to fall back to.',
  },
  ...[...COMPLETIONS, 'POST /augment/text-parser'].map((operation) => ({
    check: 'ignored_auth',
    operation,
    status: 402,
    why: 'A caller without credentials learns how to pay: x402 requires 402, and it is described.',
  })),
  {
    check: 'negative_data_rejection',
    status: 413,
    why: 'A body that is too large for its route is refused before it is read, and 413 is described.',
  },
  ...COMPLETIONS.flatMap((operation) => [
    refused(
      operation,
      /stream_options is only allowed when stream is true/,
      'As OpenAI has it; schemas of generators would lose their names to a condition.',
    ),
    refused(
      operation,
      /tool_choice is only allowed with tools/,
      'As OpenAI has it; schemas of generators would lose their names to a condition.',
    ),
    refused(
      operation,
      /Every message is empty/,
      'An empty assistant message is dropped, and then there is nothing to answer.',
    ),
    refused(
      operation,
      /at most \d+ cache_control marks/,
      'A schema counts the items of one list and not those of all lists together.',
    ),
    refused(
      operation,
      /Supplied image did not pass validation checks/,
      'A schema does not know what is at a URL.',
    ),
    refused(operation, /does not accept (input_audio|video_url|file)/, OF_MODEL),
    refused(operation, /does not support enable_x_search/, OF_MODEL),
    refused(operation, /The model rejected the request/, OF_MODEL),
    refused(operation, /is not available on this deployment/, OF_DEPLOYMENT),
  ]),
  ...COMPLETIONS.map((operation) =>
    refused(
      operation,
      /must contain at most \d+ \w+ parts/,
      'A schema counts all items of a list, and not those of one kind.',
    ),
  ),
  ...['POST /messages', 'POST /messages/count_tokens'].map((operation) =>
    refused(
      operation,
      /input_schema is required and must be an object/,
      'Only the tools of clients have one; those of the service differ by a prefix of their type.',
    ),
  ),
  ...['POST /responses', 'POST /responses/input_tokens'].map((operation) =>
    refused(operation, /must have file_data or file_url|send either allowed_x_handles/, TOGETHER),
  ),
  ...['POST /responses', 'POST /responses/input_tokens'].map((operation) =>
    refused(
      operation,
      /must be the encrypted_content of a response of this service/,
      'Only the service makes them, and a made-up one does not look different.',
    ),
  ),
  refused(
    'DELETE /api_keys',
    /must be set in the query or in the body/,
    'OpenAPI has no way to say that one of two places has to have it.',
  ),
  ...['audio', 'video'].flatMap((kind) =>
    ['retrieve', 'complete'].map((action) =>
      refused(`POST /${kind}/${action}`, /Request ID is invalid/, 'A schema does not know which jobs exist.'),
    ),
  ),
  refused(
    'POST /augment/scrape',
    /The page could not be read/,
    'A schema does not know what is at a URL, and would take less of what URLs may be than their standard does.',
  ),
  refused(
    'POST /augment/text-parser',
    /Unsupported file type|could not be read|No text content could be extracted/,
    'A schema does not know what is in a file.',
  ),
  refused('POST /augment/search', /is not available on this deployment/, OF_DEPLOYMENT),
  refused(
    'POST /chat/completions',
    /Invalid E2EE headers/,
    'A schema does not know the points of a curve, and OpenAPI cannot say that three headers go together.',
  ),
  {
    check: 'positive_data_acceptance',
    operation: 'POST /x402/top-up',
    status: 400,
    says: /payment/i,
    why: 'A schema does not know what a wallet has signed.',
  },
  refused('POST /crypto/rpc/{network}', /has no blockchain nodes/, OF_DEPLOYMENT),
  {
    check: 'negative_data_rejection',
    operation: 'GET /characters',
    status: 431,
    why: 'A query of more than 16 KB is refused before it is read, and 431 is described.',
  },
  ...['attestation', 'signature'].map((what) =>
    refused(`GET /tee/${what}`, /has no attested enclave/, OF_MODEL),
  ),
  {
    check: 'allow_header_conformance',
    operation: 'OPTIONS /crypto/rpc/networks',
    status: 405,
    why: 'A POST to this path is one to a network of that name, which does not exist.',
  },
  ...['/images/edits', '/image/edit', '/image/multi-edit'].map((path) =>
    refused(
      `POST ${path}`,
      /is a parameter of POST/,
      'JSON has null for members that are refused; a form has no such value, and their type would be no type.',
    ),
  ),
  refused('POST /image/background-remove', /image or image_url is required/, TOGETHER),
  ...['POST /x402/top-up', 'POST /x402/solana-transfer'].flatMap((operation) => [
    refused(
      operation,
      /must be a decimal number of US dollars from 5 to 10000/,
      'The amount is a decimal text, of which a schema knows no least and no most.',
    ),
    { check: 'not_a_server_error', operation, status: 503, why: NO_CHAIN },
  ]),
  ...[
    'GET /operator/v1/payments',
    'GET /operator/v1/payments/totals',
    'GET /operator/v1/payments/audit',
    'GET /operator/v1/payments/{id}',
    'POST /operator/v1/payments/{id}/retry',
    'POST /operator/v1/payments/{id}/resolve',
  ].map((operation) => ({
    check: 'not_a_server_error',
    operation,
    status: 503,
    says: /This deployment does not sell credit/,
    why: NO_CHAIN,
  })),
  refused('GET /billing/usage', /must be after startDate/, TOGETHER),
  ...['GET /billing/usage-history', 'GET /billing/requests'].map((operation) =>
    refused(operation, /must be after startTimestamp/, TOGETHER),
  ),
  refused('GET /billing/usage-history', /cursor must be the only query parameter/, TOGETHER),
  ...['GET /billing/usage-history', 'GET /billing/requests'].map((operation) =>
    refused(
      operation,
      /Invalid or expired cursor/,
      'Only the service makes cursors, and a made-up one does not look different.',
    ),
  ),
  ...['', '/daily', '/users'].map((part) =>
    refused(
      `GET /billing/usage-analytics${part}`,
      /must be set if|must not be set if|must not be before startDate|counting both days/,
      TOGETHER,
    ),
  ),
  ...['POST /api_keys', 'PATCH /api_keys', 'POST /operator/v1/accounts/{id}/api_keys'].map((operation) =>
    refused(operation, /at most nine decimals/, NO_STEPS),
  ),
  refused(
    'POST /api_keys/generate_web3_key',
    /token must be one from GET|must be the address of a wallet|at most nine decimals/,
    'A schema does not decode addresses. Only the service makes tokens, and a made-up one does not look different; nor are steps of 1e-9 steps of binary numbers.',
  ),
  ...['POST /api_keys', 'PATCH /api_keys', 'POST /operator/v1/accounts/{id}/api_keys'].flatMap(
    (operation) => [
      refused(
        operation,
        /must fit an endpoint|must be an IP address or a network/,
        'A pattern would list every endpoint, and no format of a schema is that of a network.',
      ),
      refused(operation, /canInfer must be true for an INFERENCE key/, TOGETHER),
    ],
  ),
  ...['POST /api_keys', 'PATCH /api_keys', 'POST /api_keys/{id}/rotate'].map((operation) =>
    refused(
      operation,
      /your API key has no more left to give|must be at most its own limit/,
      'A schema does not know what the key of the caller may do and still spend.',
    ),
  ),
  ...['credits', 'refunds'].map((what) =>
    refused(
      `POST /operator/v1/accounts/{id}/${what}`,
      /The balance would be too large/,
      'A schema does not know the balance of an account.',
    ),
  ),
  ...['POST /webhook_endpoints', 'PATCH /webhook_endpoints/{id}'].map((operation) =>
    refused(operation, /must be a URL that starts with/, 'The format of URIs has them of every scheme.'),
  ),
  refused('PUT /alerts', /at most nine decimals/, NO_STEPS),
  refused('PUT /operator/v1/accounts/{id}/stake', /at most 9 decimals/, NO_STEPS),
];
