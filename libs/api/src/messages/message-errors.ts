import type { Problem, ProblemKind } from '@svc/contracts/problems';
import type { ErrorShape } from '../route/route-definition.js';
import { MessageError } from './message-reply.js';

const TYPES: Readonly<Record<ProblemKind, MessageError['error']['type']>> = {
  invalid_request_error: 'invalid_request_error',
  authentication_error: 'authentication_error',
  insufficient_balance: 'billing_error',
  permission_error: 'permission_error',
  not_found_error: 'not_found_error',
  rate_limit_error: 'rate_limit_error',
  api_error: 'api_error',
  overloaded_error: 'overloaded_error',
  provider_content_policy: 'invalid_request_error',
  timeout_error: 'timeout_error',
};

/** A problem in the envelope of Anthropic's API. */
export function messageError(
  { code, kind, status, message, issues }: Problem,
  requestId: string,
): MessageError {
  const type = status === 413 ? 'request_too_large' : TYPES[kind];
  const details = { error_code: code, ...(issues && { issues: issues.map(copied) }) };
  return { type: 'error', error: { type, message, details }, request_id: requestId };
}

const copied = ({ code, path, message }: NonNullable<Problem['issues']>[number]) => ({
  code,
  path: [...path],
  message,
});

export const MESSAGE_ERRORS: ErrorShape = {
  schema: MessageError,
  bodyOf: messageError,
  idHeader: 'request-id',
};
