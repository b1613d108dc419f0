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
  | 'provider_content_policy'
  | 'timeout_error';

export interface ProblemRow {
  readonly status: number;
  readonly kind: ProblemKind;
  readonly message: string;
  /** Seconds, sent as `Retry-After` unless the problem has a better value. */
  readonly retryAfterSeconds?: number;
  /**
   * The service failed or is not done yet: the client should send the same request again, so it does not
   * count as the client's failure.
   */
  readonly isRepeatWanted?: boolean;
  /** OpenAI's `error.code` for it, if clients act on that. */
  readonly openaiCode?: string;
}

const row = (status: number, kind: ProblemKind, message: string): ProblemRow => ({ status, kind, message });

/** Errors of wallet sign-ins. Source of the codes: the public interface. */
const signIn = (message: string): ProblemRow => row(401, 'authentication_error', message);

/** Errors of payments. Source of the codes: the public interface. */
const payment = (message: string): ProblemRow => row(400, 'invalid_request_error', message);

/** The catalogue of errors: every code that a client can see, with its status, type and default message. */
export const PROBLEMS = {
  INVALID_REQUEST: row(400, 'invalid_request_error', 'Invalid request parameters'),
  MALFORMED_REQUEST: row(400, 'invalid_request_error', 'The request is not valid HTTP/1.1.'),
  INVALID_JSON: row(400, 'invalid_request_error', 'Invalid JSON request'),
  TOO_MANY_TOKENS: {
    ...row(
      400,
      'invalid_request_error',
      // Clients that read only the message recognize an overflow by the last sentence.
      "Your request exceeds the model's maximum context. Please reduce your prompt or completion length. Input tokens exceed the configured limit.",
    ),
    openaiCode: 'context_length_exceeded',
  },
  TOO_MANY_TOKENS_PER_MINUTE: row(
    400,
    'invalid_request_error',
    'Your request may take more tokens than your limit of tokens per minute. Please reduce your prompt or max_tokens.',
  ),
  PAYMENT_HEADER_NOT_ACCEPTED: row(
    400,
    'invalid_request_error',
    'This route does not accept payments. Top up at /api/v1/x402/top-up, then retry with a SIGN-IN-WITH-X header.',
  ),
  INVALID_PAYMENT_FORMAT: payment('The payment header must be a payment as JSON, encoded in base64.'),
  INVALID_PAYMENT: payment('The payload must be a signed authorization to transfer USDC.'),
  UNSUPPORTED_NETWORK: payment('The payment must be on a network listed in `accepts`.'),
  INVALID_PAYMENT_RECIPIENT: payment('The payment must go to the `payTo` address listed in `accepts`.'),
  UNSUPPORTED_TOKEN: payment('The payment must be in USDC.'),
  UNSUPPORTED_SCHEME: payment('The payment must use the scheme `exact`.'),
  INVALID_AMOUNT: payment('The amount must be between 5 and 10,000 USDC.'),
  INVALID_PAYMENT_PAYER: payment('The payer must be the address of a wallet.'),
  AMOUNT_TOO_LOW: payment('The amount must be at least 5 USDC.'),
  AMOUNT_TOO_HIGH: payment('The amount must be at most 10,000 USDC.'),
  PAYMENT_VERIFICATION_FAILED: payment('The payment cannot be settled.'),
  REQUEST_ID_NOT_FOUND: row(400, 'invalid_request_error', 'Request ID is invalid.'),
  E2EE_ATTESTATION_STALE: {
    ...row(
      400,
      'invalid_request_error',
      'No backend that responds holds the key in X-SVC-TEE-Model-Pub-Key. Attest again, and encrypt with the new key.',
    ),
    openaiCode: 'e2ee_attestation_stale',
  },
  UNSUPPORTED_METHOD: row(400, 'invalid_request_error', 'The method is not supported on this network.'),
  NOT_AVAILABLE: row(400, 'invalid_request_error', 'This deployment does not offer this feature.'),
  AUTHENTICATION_FAILED: row(401, 'authentication_error', 'Authentication failed'),
  X402_SIGN_IN_INVALID_PAYLOAD: signIn(
    'The sign-in header must be a JSON object with the fields of a sign-in, encoded in base64.',
  ),
  X402_SIGN_IN_PARSE_ERROR: signIn('The sign-in header must be JSON, encoded in base64.'),
  X402_SIGN_IN_INVALID_MESSAGE: signIn('The sign-in message does not have the format of Sign-In with X.'),
  X402_SIGN_IN_ADDRESS_MISMATCH: signIn(
    'The address in the sign-in message differs from the address in the payload.',
  ),
  X402_SIGN_IN_INVALID_CHAIN_ID: signIn(
    'The chain id of the sign-in must name a chain, such as `eip155:8453`.',
  ),
  X402_SIGN_IN_CHAIN_MISMATCH: signIn(
    'The chain in the sign-in message differs from the chain in the payload.',
  ),
  X402_SIGN_IN_UNSUPPORTED_CHAIN: signIn('Wallets sign in on Base (eip155:8453) or Solana mainnet.'),
  X402_SIGN_IN_MISSING_NONCE: signIn('The sign-in message has no nonce.'),
  X402_SIGN_IN_DOMAIN_MISMATCH: signIn('The sign-in message is for another service.'),
  X402_SIGN_IN_TIMESTAMP_MISMATCH: signIn(
    'The timestamp in the payload differs from the one in the sign-in message.',
  ),
  X402_SIGN_IN_EXPIRED: signIn('The sign-in has expired. Sign a new message.'),
  X402_SIGN_IN_FUTURE_TIMESTAMP: signIn('The sign-in message was issued in the future.'),
  X402_SIGN_IN_NOT_BEFORE: signIn('The sign-in message is not valid yet.'),
  X402_SIGN_IN_INVALID_SIGNATURE: signIn('The signature does not match this message and this wallet.'),
  X402_SIGN_IN_INVALID_WALLET: signIn('The address is not a valid wallet address.'),
  X402_SIGN_IN_NONCE_REUSED: signIn(
    'This sign-in has already been used. Sign a new message with a new nonce.',
  ),
  PRO_ONLY_MODEL: row(401, 'authentication_error', 'This model is only available to Pro users'),
  INSUFFICIENT_BALANCE: row(
    402,
    'insufficient_balance',
    'Insufficient USD or Diem balance to complete request. Add credits to continue.',
  ),
  SETTLEMENT_FAILED: row(402, 'insufficient_balance', 'The payment was not settled.'),
  PAYMENT_REQUIRED: row(402, 'insufficient_balance', 'Payment required'),
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
  END_USER_SPEND_LIMIT_EXCEEDED: row(
    402,
    'insufficient_balance',
    'The end user of this request has reached the spending limit that its account has set.',
  ),
  ACCOUNT_SUSPENDED: row(
    403,
    'permission_error',
    'This account is suspended. Contact the operator of this service to have it resumed.',
  ),
  X402_WALLET_MISMATCH: row(403, 'permission_error', 'You can only access resources for your own wallet'),
  MODEL_NOT_ALLOWED: row(403, 'permission_error', 'This API key may not use this model.'),
  ENDPOINT_NOT_ALLOWED: row(403, 'permission_error', 'This API key may not use this endpoint.'),
  ADDRESS_NOT_ALLOWED: row(403, 'permission_error', 'This API key may not be used from this address.'),
  UNAUTHORIZED: row(403, 'permission_error', 'Unauthorized access'),
  STEP_UP_REQUIRED: row(
    403,
    'permission_error',
    'Your key or wallet was last proven more than 15 minutes ago. Prove it again, then repeat the request.',
  ),
  NOT_FOUND: row(404, 'not_found_error', 'No such route'),
  ACCOUNT_NOT_FOUND: row(404, 'not_found_error', 'No such account'),
  CHARACTER_NOT_FOUND: row(
    404,
    'not_found_error',
    'No character could be found from the provided character_slug',
  ),
  FILE_NOT_FOUND: row(404, 'not_found_error', 'This account has no file with that id.'),
  BATCH_NOT_FOUND: row(404, 'not_found_error', 'This account has no batch with that id.'),
  PAYMENT_NOT_FOUND: row(404, 'not_found_error', 'No such payment'),
  CHARGE_NOT_FOUND: row(404, 'not_found_error', 'This account has no charge for that request.'),
  REQUEST_NOT_FOUND: row(
    404,
    'not_found_error',
    'No request with this id was charged, or refused or failed in the last 30 days. It may be under way, or have been free.',
  ),
  BACKEND_NOT_FOUND: row(404, 'not_found_error', 'The catalogue has no such backend of that model.'),
  JOB_NOT_FOUND: row(404, 'not_found_error', 'No such job, or it is no longer kept.'),
  CREDIT_NOT_FOUND: row(404, 'not_found_error', 'This account has no credit with that reference.'),
  MODEL_NOT_FOUND: row(404, 'not_found_error', 'Specified model not found'),
  API_KEY_NOT_FOUND: row(404, 'not_found_error', 'This account has no API key with that id.'),
  WEBHOOK_ENDPOINT_NOT_FOUND: row(
    404,
    'not_found_error',
    'This account has no webhook endpoint with that id.',
  ),
  WEBHOOK_DELIVERY_NOT_FOUND: row(
    404,
    'not_found_error',
    'This webhook endpoint has no delivery with that id.',
  ),
  MEDIA_NOT_FOUND: row(404, 'not_found_error', 'The media of this request has been deleted.'),
  METHOD_NOT_ALLOWED: row(405, 'invalid_request_error', 'This route does not support that method.'),
  REQUEST_INCOMPLETE: row(408, 'timeout_error', 'The request was not received in time.'),
  PAYMENT_IN_PROGRESS: {
    ...row(
      409,
      'invalid_request_error',
      'The payment is still being settled. Retry with the same payment header, and do not sign another payment.',
    ),
    retryAfterSeconds: 5,
    isRepeatWanted: true,
  },
  REQUEST_IN_PROGRESS: {
    ...row(
      409,
      'invalid_request_error',
      'A request with this Idempotency-Key is still being processed. Please try again.',
    ),
    retryAfterSeconds: 1,
    isRepeatWanted: true,
  },
  IDEMPOTENCY_KEY_REUSED: row(
    400,
    'invalid_request_error',
    'This Idempotency-Key has already been used for a different request.',
  ),
  REQUEST_ALREADY_MADE: row(
    409,
    'invalid_request_error',
    'The request with this Idempotency-Key was made. Its response is not stored. This repetition costs nothing.',
  ),
  PAYMENT_DECISION_REFUSED: row(409, 'invalid_request_error', 'The blockchain contradicts this decision.'),
  REFERENCE_REUSED: row(
    409,
    'invalid_request_error',
    'This reference has already been used with a different amount.',
  ),
  REFUND_TOO_LARGE: row(
    409,
    'invalid_request_error',
    'The refund is larger than the part of the charge that has not been refunded yet.',
  ),
  DEBIT_TOO_LARGE: row(409, 'invalid_request_error', 'The debit is larger than the balance of the account.'),
  FILE_IN_USE: row(
    409,
    'invalid_request_error',
    'A batch under way reads this file. Cancel the batch, or wait until it has ended.',
  ),
  BATCH_FINISHED: row(409, 'invalid_request_error', 'This batch has ended, so it cannot be cancelled.'),
  BATCH_UNFINISHED: row(
    409,
    'invalid_request_error',
    'This batch has not ended. Cancel it, or wait until it has ended.',
  ),
  JOB_FINISHED: row(
    409,
    'invalid_request_error',
    'This job has already been completed, or has failed, so it cannot be ended.',
  ),
  MODEL_RETIRED: row(410, 'not_found_error', 'This model is no longer offered.'),
  ENDPOINT_RETIRED: row(410, 'not_found_error', 'This endpoint is no longer offered.'),
  PAYLOAD_TOO_LARGE: row(
    413,
    'invalid_request_error',
    'The request payload is too large. Please reduce the size of your request.',
  ),
  RANGE_NOT_SATISFIABLE: row(
    416,
    'invalid_request_error',
    'The file has none of the bytes that `Range` names.',
  ),
  INVALID_CONTENT_TYPE: row(415, 'invalid_request_error', 'Invalid request content-type'),
  INVALID_CONTENT_ENCODING: row(
    415,
    'invalid_request_error',
    'The content-encoding of the request must be gzip, br, zstd or identity.',
  ),
  CONTENT_POLICY_VIOLATION: {
    ...row(422, 'invalid_request_error', 'Your input was blocked by content moderation.'),
    openaiCode: 'content_policy_violation',
  },
  TOO_MUCH_AT_ONCE: row(
    429,
    'rate_limit_error',
    'This caller is sending too much data at once. Please wait until some of its current requests have ended.',
  ),
  TOO_MANY_JOBS: {
    ...row(
      429,
      'rate_limit_error',
      'Too many jobs of this account are running. Please wait until one has ended.',
    ),
    retryAfterSeconds: 10,
  },
  MEDIA_STORAGE_FULL: {
    ...row(
      429,
      'rate_limit_error',
      'The media of this account takes all of its storage. Delete some of it with the `complete` route, or wait until it expires.',
    ),
    retryAfterSeconds: 60,
  },
  FILE_STORAGE_FULL: {
    ...row(
      429,
      'rate_limit_error',
      'The files of this account take all of its storage. Delete some of them, or wait until they expire.',
    ),
    retryAfterSeconds: 60,
  },
  TOO_MANY_LINES: {
    ...row(
      429,
      'rate_limit_error',
      'The unfinished batches of this account have too many lines. Please wait until one has ended.',
    ),
    retryAfterSeconds: 60,
  },
  TOO_MANY_CONFIRMATION_MAILS: {
    ...row(
      429,
      'rate_limit_error',
      'Too many codes were sent to this e-mail address, or for this account, within a day. Please use the latest one, or wait.',
    ),
    retryAfterSeconds: 3_600,
  },
  HEADERS_TOO_LARGE: row(431, 'invalid_request_error', 'The headers of the request are too large.'),
  RATE_LIMIT_EXCEEDED: row(429, 'rate_limit_error', 'Rate limit exceeded'),
  INFERENCE_FAILED: row(500, 'api_error', 'Inference processing failed'),
  E2EE_PLAINTEXT_FROM_BACKEND: {
    ...row(
      500,
      'api_error',
      'The backend sent something unencrypted in an encrypted completion, which therefore ends here.',
    ),
    openaiCode: 'e2ee_plaintext_from_backend',
  },
  UNKNOWN_ERROR: row(500, 'api_error', 'An unknown error occurred'),
  TEE_ATTESTATION_FAILED: row(502, 'api_error', 'No backend of the model has an acceptable attestation.'),
  TEE_SIGNATURE_FAILED: row(
    502,
    'api_error',
    'No backend of the model has a signature for this request. Signatures are kept for 20 minutes.',
  ),
  MODEL_OFFLINE: {
    ...row(503, 'overloaded_error', 'The model is temporarily offline.'),
    retryAfterSeconds: 5,
    isRepeatWanted: true,
  },
  MODEL_AT_CAPACITY: {
    ...row(503, 'overloaded_error', 'The model is at capacity. Please try again later.'),
    retryAfterSeconds: 5,
    isRepeatWanted: true,
  },
  UNAVAILABLE: {
    ...row(503, 'api_error', 'The service cannot take requests at the moment. Please try again.'),
    retryAfterSeconds: 1,
    isRepeatWanted: true,
  },
  WEBHOOKS_NOT_CONFIGURED: {
    ...row(503, 'api_error', 'This deployment is not set up for webhooks.'),
    retryAfterSeconds: 60,
  },
  X402_NOT_CONFIGURED: {
    ...row(503, 'api_error', 'This deployment is not set up for wallets.'),
    retryAfterSeconds: 60,
  },
  REQUEST_TIMEOUT: {
    ...row(
      504,
      'timeout_error',
      'The request took too long to complete and was timed-out. For long-running inference requests, use the streaming API by setting `stream=true` in your request.',
    ),
    isRepeatWanted: true,
  },
} as const satisfies Record<string, ProblemRow>;

export type ProblemCode = keyof typeof PROBLEMS;
