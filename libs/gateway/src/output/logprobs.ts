import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';

/**
 * A choice's `logprobs` in the wrapper that clients expect, `{content, refusal}`. Some backends omit
 * `refusal`, others send a list of tokens or a single token. `undefined` if there are none, `null` for an
 * unknown format.
 */
export function wrapLogprobs(value: unknown): Fields | null | undefined {
  if (value === undefined || value === null) return value;
  if (Array.isArray(value)) return wrapper(value);
  if (!isFields(value)) return null;
  if ('content' in value || 'refusal' in value) return wrapper(value['content'], value['refusal']);
  return 'token' in value ? wrapper([value]) : null;
}

/** The tokens of a wrapper for which `isKept` holds. It is called in their order. */
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
