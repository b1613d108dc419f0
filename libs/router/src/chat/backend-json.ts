import { type Fields, isFields, unusable } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';

/** Parses a JSON object from a backend. Refuses: INFERENCE_FAILED for anything else. */
export function parseBackendJson(text: string): Fields {
  let value: unknown;
  try {
    value = boundedJson(text, RESPONSE_JSON_LIMITS);
  } catch (error) {
    throw new Problem('INFERENCE_FAILED', { cause: error });
  }
  if (isFields(value)) return value;
  throw unusable('the backend sent JSON that is not an object');
}

/**
 * The error for a failure that a backend reports. Keeps only its type and code, since the rest may repeat the
 * prompt.
 */
export function backendError(error: unknown): Problem {
  const { type, code } = isFields(error) ? error : {};
  const names = [type, code].filter((name) => /^"[a-z_]{1,40}"$|^\d{3}$/i.test(JSON.stringify(name) ?? ''));
  return unusable(`the backend reported an error: ${names.join(', ') || 'no name'}`);
}

/** The text that a member should be; empty for anything else. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
