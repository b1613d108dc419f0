import { invalidRequest } from '@svc/contracts';

/** How a URL begins that a program may fetch or open. Data URLs contain what they name. */
const FETCHABLE = /^[\s\0]*(?:[a-z][\w+.-]*:\/\/|(?:https?|ftp|file):)/i;

/** Some servers read JSON from a text. */
const MAY_BE_JSON = /^\s*[[{"]/;

/**
 * Refuses a field for the model server that has a URL at any depth. Model servers fetch some of theirs, such
 * as `ref_audio` of vLLM-Omni, from addresses that clients must not reach.
 */
export function refuseUrls([name, value]: readonly [string, unknown]): void {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'object' && next !== null) for (const each of Object.values(next)) left.push(each);
    if (typeof next !== 'string') continue;
    if (FETCHABLE.test(next)) {
      const message = `${name} must not contain a URL, since model servers do not fetch any for clients`;
      throw invalidRequest([{ code: 'custom', path: [name], message }]);
    }
    if (MAY_BE_JSON.test(next)) left.push(jsonIn(next));
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
