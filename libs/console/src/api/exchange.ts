import { CallError, errorOf } from './call-error.js';
import type { CallInput, PathOf, ReplyAt, RouteMethod } from './routes.js';

export interface RequestInput {
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: the cookies of this origin. */
  readonly credentials?: RequestCredentials;
}

/** The path of a route with its parameters and its query. */
export function filled(path: string, { params = {}, query = {} }: RequestInput): string {
  const address = path.replace(/:(\w+)|\*/g, (found, name?: string) =>
    name === undefined ? (params[found] ?? '') : encodeURIComponent(params[name] ?? ''),
  );
  const pairs = Object.entries(query as Record<string, unknown>).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return search === '' ? address : `${address}?${search}`;
}

/** Sends a request and resolves with its response if that is a success. Throws CallError, or AbortError. */
export async function exchange(
  method: RouteMethod,
  address: string,
  { body, headers = {}, signal, credentials = 'same-origin' }: RequestInput,
): Promise<Response> {
  const response = await fetch(address, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    credentials,
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new CallError('The service cannot be reached.', { status: 0 });
  });
  if (response.ok) return response;
  throw await errorOf(response);
}

/** Calls routes by a function that sends requests, and resolves with their replies. */
export const callsBy =
  (send: (method: RouteMethod, path: string, input: RequestInput) => Promise<Response>) =>
  async <M extends RouteMethod, P extends PathOf<M>>(
    method: M,
    path: P,
    input: CallInput<M, P> = {},
  ): Promise<ReplyAt<M, P>> =>
    (await (await send(method, path, input)).json()) as ReplyAt<M, P>;
