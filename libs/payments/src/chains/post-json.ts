interface Bounds {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** What a neighbour answers to JSON, in time and within its bound. Follows no redirect. */
export function postJson(url: string, body: object, bounds: Bounds): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return asked(url, { method: 'POST', headers, body: JSON.stringify(body) }, bounds);
}

/** The same without a question. */
export function getJson(url: string, bounds: Bounds): Promise<unknown> {
  return asked(url, {}, bounds);
}

async function asked(url: string, request: RequestInit, { timeoutMs, maxBytes }: Bounds): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { ...request, signal, redirect: 'error' });
  return JSON.parse(await limited(response, maxBytes));
}

async function limited({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > maxBytes) throw new Error('the answer is too long');
  }
  return text;
}
