interface Bounds {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** What a neighbour answers to JSON, in time and within its bound. Follows no redirect. */
export async function postJson(url: string, body: object, { timeoutMs, maxBytes }: Bounds): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'error',
  });
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
