import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';

/**
 * A choice's `logprobs` in the wrapper that clients read, `{content, refusal}`. Some backends leave out `refusal`,
 * others give a bare list of tokens or one bare token. `undefined` where there are none, `null` for what says nothing.
 */
export function wrapLogprobs(value: unknown): Fields | null | undefined {
  if (value === undefined || value === null) return value;
  if (Array.isArray(value)) return wrapper(value);
  if (!isFields(value)) return null;
  if ('content' in value || 'refusal' in value) return wrapper(value['content'], value['refusal']);
  return 'token' in value ? wrapper([value]) : null;
}

/** Those tokens of a wrapper of which `isKept` holds, asked in their order. */
export function filterTokens(wrapped: Fields, isKept: (token: string) => boolean): Fields {
  const { content } = wrapped;
  if (!Array.isArray(content)) return wrapped;
  return { ...wrapped, content: fieldsOf(content).filter(({ token }) => isKept(String(token))) };
}

function wrapper(content: unknown, refusal: unknown = null): Fields {
  return { content: tokens(content), refusal: tokens(refusal) };
}

function tokens(value: unknown): Fields[] | null {
  if (!Array.isArray(value)) return null;
  const list = fieldsOf(value);
  for (const entry of list) {
    entry['bytes'] ??= null;
    if (!Array.isArray(entry['top_logprobs'])) entry['top_logprobs'] = [];
  }
  return list;
}
