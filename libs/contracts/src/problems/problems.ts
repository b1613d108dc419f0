/** The `type` of an error body. */
export type ProblemKind =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'insufficient_balance'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'api_error'
  | 'overloaded_error'
  | 'timeout_error';

export interface ProblemRow {
  readonly status: number;
  readonly kind: ProblemKind;
  readonly message: string;
  /** Seconds, sent as `Retry-After` where the problem says no better. */
  readonly retryAfterSeconds?: number;
  /** What OpenAI's API calls it, where clients act on that name: their `error.code`. */
  readonly openaiCode?: string;
}

const row = (status: number, kind: ProblemKind, message: string): ProblemRow => ({ status, kind, message });

/** The catalogue of errors: every code that a client can see, with its status, type and default message. */
export const PROBLEMS = {
  INVALID_REQUEST: row(400, 'invalid_request_error', 'Invalid request parameters'),
  MALFORMED_REQUEST: row(400, 'invalid_request_error', 'That is not a request of HTTP/1.1.'),
  INVALID_JSON: row(400, 'invalid_request_error', 'Invalid JSON request'),
  TOO_MANY_TOKENS: {
    ...row(
      400,
      'invalid_request_error',
      // Clients that read nothing but the message know an overflow by the last sentence.
      "Your request exceeds the model's maximum context. Please reduce your prompt or completion length. Input tokens exceed the configured limit.",
    ),
    openaiCode: 'context_length_exceeded',
  },
  NOT_AVAILABLE: row(400, 'invalid_request_error', 'This deployment does not offer that.'),
  AUTHENTICATION_FAILED: row(401, 'authentication_error', 'Authentication failed'),
  PRO_ONLY_MODEL: row(401, 'authentication_error', 'This model is only available to Pro users'),
  INSUFFICIENT_BALANCE: row(
    402,
    'insufficient_balance',
    'Insufficient USD or Diem balance to complete request. Add credits to continue.',
  ),
  API_KEY_USD_SPEND_LIMIT_EXCEEDED: row(
    402,
    'insufficient_balance',
    'API key USD spend limit exceeded. Your account may still have USD balance, but this API key has reached its configured USD spending limit.',
  ),
  API_KEY_DIEM_SPEND_LIMIT_EXCEEDED: row(
    402,
    'insufficient_balance',
    'API key DIEM spend limit exceeded. Your account may still have DIEM balance, but this API key has reached its configured DIEM spending limit.',
  ),
  UNAUTHORIZED: row(403, 'permission_error', 'Unauthorized access'),
  NOT_FOUND: row(404, 'not_found_error', 'No such route'),
  ACCOUNT_NOT_FOUND: row(404, 'not_found_error', 'No such account'),
  CHARACTER_NOT_FOUND: row(
    404,
    'not_found_error',
    'No character could be found from the provided character_slug',
  ),
  CHARGE_NOT_FOUND: row(404, 'not_found_error', 'This account has no charge for that request.'),
  MODEL_NOT_FOUND: row(404, 'not_found_error', 'Specified model not found'),
  API_KEY_NOT_FOUND: row(404, 'not_found_error', 'This account has no API key with that id.'),
  METHOD_NOT_ALLOWED: row(405, 'invalid_request_error', 'This route does not take that method.'),
  REQUEST_INCOMPLETE: row(408, 'timeout_error', 'The request was not received in time.'),
  REFERENCE_REUSED: row(409, 'invalid_request_error', 'This reference was used before with another amount.'),
  REFUND_TOO_LARGE: row(409, 'invalid_request_error', 'That is more than is left of the charge.'),
  MODEL_RETIRED: row(410, 'not_found_error', 'This model is no longer offered.'),
  PAYLOAD_TOO_LARGE: row(
    413,
    'invalid_request_error',
    'The request payload is too large. Please reduce the size of your request.',
  ),
  INVALID_CONTENT_TYPE: row(415, 'invalid_request_error', 'Invalid request content-type'),
  INVALID_CONTENT_ENCODING: row(
    415,
    'invalid_request_error',
    'The content-encoding of the request must be gzip, br, zstd or identity.',
  ),
  TOO_MUCH_AT_ONCE: row(
    429,
    'rate_limit_error',
    'Too much is being received from this caller at once. Please wait until requests under way have arrived.',
  ),
  HEADERS_TOO_LARGE: row(431, 'invalid_request_error', 'The headers of the request are too large.'),
  RATE_LIMIT_EXCEEDED: row(429, 'rate_limit_error', 'Rate limit exceeded'),
  INFERENCE_FAILED: row(500, 'api_error', 'Inference processing failed'),
  UNKNOWN_ERROR: row(500, 'api_error', 'An unknown error occurred'),
  MODEL_OFFLINE: {
    ...row(503, 'overloaded_error', 'The model is temporarily offline.'),
    retryAfterSeconds: 5,
  },
  MODEL_AT_CAPACITY: {
    ...row(503, 'overloaded_error', 'The model is at capacity. Please try again later.'),
    retryAfterSeconds: 5,
  },
  UNAVAILABLE: {
    ...row(503, 'api_error', 'The service cannot take requests at the moment. Please try again.'),
    retryAfterSeconds: 1,
  },
  REQUEST_TIMEOUT: row(
    504,
    'timeout_error',
    'The request took too long to complete and was timed-out. For long-running inference requests, use the streaming API by setting `stream=true` in your request.',
  ),
} as const satisfies Record<string, ProblemRow>;

export type ProblemCode = keyof typeof PROBLEMS;
