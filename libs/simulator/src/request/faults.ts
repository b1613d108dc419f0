import { ApiError, contextExceeded, invalidRequest } from '../http/api-error.js';

/** Faults that respond with an HTTP error status, immediately and before the queue. */
const STATUS_FAULTS = ['400', '401', '404', '429', '500', '503', 'context_length'] as const;
/** Faults that break the transport or the response. */
const OTHER_FAULTS = [
  'cut',
  'stall',
  'slow-headers',
  'cut-mid-stream',
  'reset-mid-stream',
  'stall-mid-stream',
  'error-mid-stream',
  'garbage',
  'missing-done',
  'missing-finish',
  'missing-usage',
  'duplicate-usage',
  'split-utf8',
  'crlf',
  'comments',
  'multi-line',
  'content-filter',
  'empty',
] as const;

export type FaultName = (typeof STATUS_FAULTS)[number] | (typeof OTHER_FAULTS)[number];

/** All supported faults. */
export const FAULTS: readonly FaultName[] = [...STATUS_FAULTS, ...OTHER_FAULTS];

/** Faults that act between two tokens, after the configured number of tokens. */
export const MID_FAULTS = [
  'cut-mid-stream',
  'reset-mid-stream',
  'stall-mid-stream',
  'error-mid-stream',
  'garbage',
] as const;
export type MidFault = (typeof MID_FAULTS)[number];

/** Whether a text is the name of a fault. */
export function isFault(name: string): name is FaultName {
  return FAULTS.some((fault) => fault === name);
}

/** The error for a set of faults, if any. */
export function faultError(faults: ReadonlySet<FaultName>, retryAfterS: number): ApiError | undefined {
  for (const name of STATUS_FAULTS) if (faults.has(name)) return statusError(name, retryAfterS);
  return undefined;
}

function statusError(name: (typeof STATUS_FAULTS)[number], retryAfterS: number): ApiError {
  switch (name) {
    case '400':
      return invalidRequest('Invalid request (injected).', 'messages', 'invalid_value');
    case '401':
      return new ApiError(401, 'Incorrect API key provided (injected).', { code: 'invalid_api_key' });
    case '404':
      return new ApiError(404, 'The model does not exist (injected).', {
        param: 'model',
        code: 'model_not_found',
      });
    case '429':
      return new ApiError(429, 'Rate limit reached for requests (injected).', {
        code: 'rate_limit_exceeded',
        retryAfterS,
      });
    case '500':
      return new ApiError(500, 'The server had an error while processing your request (injected).');
    case '503':
      return new ApiError(503, 'The engine is currently overloaded, please try again later (injected).', {
        retryAfterS,
      });
    case 'context_length':
      return contextExceeded(8192, 8193);
  }
}
