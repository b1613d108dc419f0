import { RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';

interface Bounds {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** The JSON response of a peer, with limits for the time and size of the whole body. Follows no redirects. */
export function postJson(url: string, body: object, bounds: Bounds): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return fetchJson(url, { method: 'POST', headers, body: JSON.stringify(body) }, bounds);
}

/** The same with GET. */
export function getJson(url: string, bounds: Bounds): Promise<unknown> {
  return fetchJson(url, {}, bounds);
}

/**
 * A `fetch` that resolves once the whole body has arrived, so that the caller's signal covers the body too.
 * Rejects a body larger than `maxBytes`.
 */
export function wholeFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText, headers } = response;
    return new Response((await limited(response, maxBytes)) || null, { status, statusText, headers });
  };
}

async function fetchJson(
  url: string,
  request: RequestInit,
  { timeoutMs, maxBytes }: Bounds,
): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { ...request, signal, redirect: 'error' });
  return boundedJson(await limited(response, maxBytes), RESPONSE_JSON_LIMITS);
}

async function limited({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > maxBytes) throw new Error('the response is too long');
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text;
}
