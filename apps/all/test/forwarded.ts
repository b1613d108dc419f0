import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** Headers about the connection or the length rather than the message. */
const OF_THE_CONNECTION = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

/** Sends a request that a test's proxy has received on to another server. */
export async function forwarded(target: string, request: IncomingMessage): Promise<Response> {
  const { method = 'GET', url = '' } = request;
  const headers = new Headers(request.headers as Record<string, string>);
  for (const name of OF_THE_CONNECTION) headers.delete(name);
  const body = method === 'GET' ? undefined : new Uint8Array(await buffer(request));
  return fetch(target + url, { method, headers, ...(body && { body }) });
}
