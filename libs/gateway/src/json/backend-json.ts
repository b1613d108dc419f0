import { Problem } from '@svc/contracts';

export type Fields = Record<string, unknown>;

/** Whether a value is an object with members. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a backend wrote, as an object. Refuses: INFERENCE_FAILED when it is none. */
export function parseBackendJson(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Problem('INFERENCE_FAILED', {
      cause: new Error('the backend sent what is no JSON', { cause: error }),
    });
  }
  if (isFields(value)) return value;
  throw new Problem('INFERENCE_FAILED', { cause: new Error('the backend sent JSON that is no object') });
}

/** The objects of an array; none where it is no array. */
export function fieldsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** What a backend reports in place of an answer. Of its words only names are kept: the rest may repeat the prompt. */
export function backendError(error: unknown): Problem {
  const { type, code } = isFields(error) ? error : {};
  const names = [type, code].filter((name) => /^"[a-z_]{1,40}"$|^\d{3}$/i.test(JSON.stringify(name) ?? ''));
  return new Problem('INFERENCE_FAILED', {
    cause: new Error(`the backend reported an error: ${names.join(', ') || 'no name'}`),
  });
}
