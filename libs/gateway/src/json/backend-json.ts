import { Problem } from '@svc/contracts';
import { JsonBounds, type JsonLimits } from '@svc/runtime';

export type Fields = Record<string, unknown>;

/** Whether a value is an object with members. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text up to this length is parsed as it is: what it can hold costs little. */
const UNSCANNED_CHARACTERS = 4_096;

/** Deeper than any answer; more members than a long one with the likeliest tokens of each place has. */
const LIMITS: JsonLimits = { levels: 200, members: 2_000_000 };

/** What a backend wrote, as an object. Refuses: INFERENCE_FAILED when it is none. */
export function parseBackendJson(text: string): Fields {
  const exceeded = text.length > UNSCANNED_CHARACTERS && new JsonBounds(LIMITS).exceededBy(Buffer.from(text));
  if (exceeded) throw unusable(`the backend sent JSON of too many ${exceeded}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What the parser says has a piece of the text in it.
    throw unusable('the backend sent what is no JSON');
  }
  if (isFields(value)) return value;
  throw unusable('the backend sent JSON that is no object');
}

/** The refusal of what no backend may send. */
export function unusable(why: string): Problem {
  return new Problem('INFERENCE_FAILED', { cause: new Error(why) });
}

/** The objects of an array; none where it is no array. */
export function fieldsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** What a backend reports in place of an answer. Of its words only names are kept: the rest may repeat the prompt. */
export function backendError(error: unknown): Problem {
  const { type, code } = isFields(error) ? error : {};
  const names = [type, code].filter((name) => /^"[a-z_]{1,40}"$|^\d{3}$/i.test(JSON.stringify(name) ?? ''));
  return unusable(`the backend reported an error: ${names.join(', ') || 'no name'}`);
}
