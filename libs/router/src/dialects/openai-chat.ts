import { BackendError, begins, errorStatus } from '@svc/backend-calls';
import { type Differences, hostedRequest } from '../chat/hosted-members.js';
import { requestIn } from '../chat/other-forms.js';
import type { ChatDialect, OwnChatMembers } from '../dialect/dialect.js';

/** The first part of a body up to this size is joined with the prefix. */
const JOINED_BYTES = 262_144;

/** Longer bodies are not errors and are not parsed. */
const ERROR_LIMIT_BYTES = 64 * 1024;

/** Every completion has choices; the gateway checks the rest when it reads them. */
const CHOICES = /"choices"\s*:\s*\[\s*\{/;

export const chat: ChatDialect = {
  request(own, [first = new Uint8Array(), ...others]) {
    const head = headOf(own);
    const begin = first.length > JOINED_BYTES ? [head, first.subarray(1)] : [joined(head, first)];
    return { path: PATH, body: others.length === 0 ? begin : [...begin, ...others] };
  },

  checkCompletion(body) {
    const status = body.length > ERROR_LIMIT_BYTES ? undefined : errorStatus(body);
    if (status !== undefined) throw new BackendError(status, body);
    if (!CHOICES.test(body)) throw new Error('the response has no choices');
  },

  failureIn: (data, name) => errorStatus(data, true) ?? (name === 'error' ? 500 : undefined),

  begins,
};

const PATH = '/chat/completions';

/** The beginnings of bodies, each up to the first member of the request. */
const heads = new WeakMap<OwnChatMembers, Buffer>();

function headOf(own: OwnChatMembers): Buffer {
  let head = heads.get(own);
  if (!head) heads.set(own, (head = Buffer.from(`${JSON.stringify(own).slice(0, -1)},`)));
  return head;
}

/** The beginning of a body and the rest of an object, without its first brace. */
function joined(head: Buffer, object: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + object.length - 1);
  // The brace comes to where the head ends.
  bytes.set(object, head.length - 1);
  bytes.set(head);
  return bytes;
}

/** The same at a provider that takes other members. */
export const hostedChat = (differences: Differences): ChatDialect => ({
  ...chat,
  request(own, body) {
    const written = JSON.stringify(hostedRequest(requestIn(body), differences));
    return chat.request(own, [Buffer.from(written)], false);
  },
});
