import type { ProblemCode } from '@svc/contracts/problems';

/** The error codes of every endpoint that returns completions. */
export const COMPLETION_REFUSALS = [
  'INVALID_JSON',
  'INVALID_REQUEST',
  'TOO_MANY_TOKENS',
  'TOO_MANY_TOKENS_PER_MINUTE',
  'NOT_AVAILABLE',
  'PRO_ONLY_MODEL',
  'INSUFFICIENT_BALANCE',
  'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
  'UNAUTHORIZED',
  'CHARACTER_NOT_FOUND',
  'MODEL_NOT_FOUND',
  'MODEL_RETIRED',
  'PAYLOAD_TOO_LARGE',
  'INVALID_CONTENT_TYPE',
  'RATE_LIMIT_EXCEEDED',
  'INFERENCE_FAILED',
  'MODEL_OFFLINE',
  'MODEL_AT_CAPACITY',
  'REQUEST_TIMEOUT',
] as const satisfies readonly ProblemCode[];
