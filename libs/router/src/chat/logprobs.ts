import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';

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

/** Log probabilities in whatever form: an encrypted response may have none, so none may be dropped unseen. */
export const sentLogprobs = (value: unknown): Fields | null | undefined =>
  value === undefined || value === null ? value : { sent: value };

function wrapper(content: unknown, refusal: unknown = null): Fields {
  return { content: tokens(content), refusal: tokens(refusal) };
}

function tokens(value: unknown): Fields[] | null {
  if (!Array.isArray(value)) return null;
  const list = fieldsOf(value);
  for (const entry of list) {
    const alternatives = fieldsOf(entry['top_logprobs']);
    for (const each of alternatives) keepNumbers(each);
    keepNumbers(entry);
    entry['bytes'] ??= null;
    entry['top_logprobs'] = alternatives;
  }
  return list;
}

/** Leaves an entry its token, its bytes and its numbers: other output in it would not be counted. */
function keepNumbers(entry: Fields): void {
  for (const [name, value] of Object.entries(entry)) {
    const isBytes = name === 'bytes' && Array.isArray(value) && value.every(Number.isInteger);
    if (name !== 'token' && !isBytes && typeof value !== 'number') entry[name] = undefined;
  }
}
