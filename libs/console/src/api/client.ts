import { signal } from '@preact/signals';
import { CallError, errorOf } from './call-error.js';
import type { CallInput, PathOf, ReplyAt, RouteMethod } from './routes.js';

/** Counts the responses that said that the session has ended; the shell then shows the sign-in page. */
export const sessionEnds = signal(0);

const PREFIX = '/console';

interface SentRequest {
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The address of a route for the session of this browser. */
function addressOf(path: string, { params = {}, query = {} }: SentRequest): string {
  const filled = path
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
    .replace('*', () => params['*'] ?? '');
  const pairs = Object.entries(query as Record<string, unknown>).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  const address = filled.startsWith(PREFIX) ? filled : `${PREFIX}${filled}`;
  return search === '' ? address : `${address}?${search}`;
}

/** Sends a request and resolves with its response if that is a success. */
export async function send(method: RouteMethod, path: string, input: SentRequest): Promise<Response> {
  const headers: Record<string, string> = { ...input.headers };
  if (method !== 'GET') {
    headers['content-type'] = 'application/json';
    headers['x-svc-console'] = '1';
  }
  const response = await fetch(addressOf(path, input), {
    method,
    headers,
    body: input.body === undefined ? null : JSON.stringify(input.body),
    signal: input.signal ?? null,
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new CallError('The service cannot be reached.', { status: 0 });
  });
  if (response.ok) return response;
  const problem = await errorOf(response);
  if (response.status === 401 && isEndOfSession(path, problem)) sessionEnds.value += 1;
  throw problem;
}

/** A wrong key in a sign-in, and a key without the right to a route, end no session. */
const isEndOfSession = (path: string, { message }: CallError): boolean =>
  !path.startsWith(`${PREFIX}/api/session`) && !message.startsWith('Admin API key');

/** Calls a route of the API with the session of this browser. */
export async function call<M extends RouteMethod, P extends PathOf<M>>(
  method: M,
  path: P,
  input: CallInput<M, P> = {},
): Promise<ReplyAt<M, P>> {
  const response = await send(method, path, input);
  return (await response.json()) as ReplyAt<M, P>;
}
