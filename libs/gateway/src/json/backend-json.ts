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

/** What a backend reports in place of an answer. */
export function backendError(error: unknown): Problem {
  const message = isFields(error) ? error['message'] : error;
  return new Problem('INFERENCE_FAILED', {
    cause: new Error(`the backend reported: ${String(message).slice(0, 500)}`),
  });
}
