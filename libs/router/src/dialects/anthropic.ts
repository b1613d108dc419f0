import { type CallHead, BackendError } from '@svc/backend-calls';
import { isFields } from '@svc/contracts/inference';
import { jsonOrUndefined } from '@svc/runtime';
import { parseBackendJson } from '../chat/backend-json.js';
import { membersOf, requestIn } from '../chat/other-forms.js';
import type { Dialect } from '../dialect/dialect.js';
import { MessageReader } from '../anthropic/message-reader.js';
import { messagesRequest } from '../anthropic/messages-request.js';

/** The version of the API whose shapes these are. */
const VERSION = '2023-06-01';

/** HTTP statuses by the type of an error. Source: the provider's documentation of errors. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The status of an error that comes within a response of status 200; undefined for anything else. */
function failureIn(text: string): number | undefined {
  if (!text.includes('"error"')) return undefined;
  const body = jsonOrUndefined(text);
  if (!isFields(body) || body['type'] !== 'error') return undefined;
  const { error } = body;
  return STATUSES[isFields(error) ? String(error['type']) : ''] ?? 500;
}

/** Events that only say that a response is being made. */
const SAYS_NOTHING = /^\{\s*"type"\s*:\s*"(?:message_start|ping|content_block_start)"/;

/** The members of a request whose tokens are to be counted. Source: the SDK of the provider. */
const COUNTED = new Set(['model', 'system', 'messages', 'tools', 'tool_choice', 'thinking', 'output_config']);

/** Anthropic's Messages API. */
export const anthropic: Dialect = {
  headers: ({ key }: CallHead) => ({
    'content-type': 'application/json',
    'anthropic-version': VERSION,
    ...(key !== undefined && { 'x-api-key': key }),
  }),
  isHosted: true,
  chat: {
    reader: ({ isOriginal }) => new MessageReader(isOriginal),
    request({ model, thinking = 'adaptive' }, body, isStream) {
      const messages = messagesRequest(requestIn(body), { model, form: thinking, isStream });
      return { path: '/messages', body: [Buffer.from(JSON.stringify(messages))] };
    },
    passed({ model, betas: allowed = [] }, { body: [first = new Uint8Array(), ...others], betas }, isStream) {
      const own = JSON.stringify({ model, ...(isStream && { stream: true }) });
      const names = betas.filter((beta) => allowed.includes(beta));
      return {
        path: '/messages',
        ...(names.length > 0 && { headers: { 'anthropic-beta': names.join(',') } }),
        body: [Buffer.from(`${own.slice(0, -1)},`), first.subarray(1), ...others],
      };
    },
    counting: {
      request({ model, thinking = 'adaptive' }, body) {
        const messages = messagesRequest(requestIn(body), { model, form: thinking, isStream: false });
        const counted = JSON.stringify(membersOf(messages, COUNTED));
        return { path: '/messages/count_tokens', body: [Buffer.from(counted)] };
      },
      tokens: 'input_tokens',
    },
    checkCompletion(body) {
      const status = failureIn(body);
      if (status !== undefined) throw new BackendError(status, body);
      const message = parseBackendJson(body);
      if (message['type'] !== 'message') throw new Error('the response is no message');
    },
    failureIn,
    begins: (event) => !SAYS_NOTHING.test(event),
  },
};
