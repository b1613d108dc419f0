import { signal } from '@preact/signals';
import type { OperatorScope } from '@svc/api/route';
import { CallError } from '../api/call-error.js';
import { type RequestInput, callsBy, exchange, filled } from '../api/exchange.js';
import type { ReplyAt, RouteMethod } from '../api/routes.js';

type TokenView = ReplyAt<'GET', '/operator/v1/token'>;

/** The secret is only here, in the memory of the page: never in its storage, its address or its elements. */
let secret = '';

/** What the token is and may do; undefined while none is given. */
export const token = signal<TokenView | undefined>(undefined);

/** Why a token is asked for again. */
export const notice = signal<string | undefined>(undefined);

export function forgetToken(why?: string): void {
  secret = '';
  token.value = undefined;
  notice.value = why;
}

/** Whether the token has a scope. */
export const may = (scope: OperatorScope): boolean => token.value?.scopes.includes(scope) === true;

/** Sends a request with the token, and with no cookie. */
async function send(method: RouteMethod, path: string, input: RequestInput): Promise<Response> {
  const headers: Record<string, string> = { ...input.headers, authorization: `Bearer ${secret}` };
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  try {
    return await exchange(method, filled(path, input), { ...input, headers, credentials: 'omit' });
  } catch (error) {
    if (error instanceof CallError && error.status === 401 && token.value) forgetToken(error.message);
    throw error;
  }
}

/** Calls a route of the operator's API. */
export const ask = callsBy(send);

/** Takes a token if the service accepts it. */
export async function takeToken(given: string): Promise<void> {
  secret = given;
  notice.value = undefined;
  try {
    token.value = await ask('GET', '/operator/v1/token');
  } catch (error) {
    secret = '';
    throw error;
  }
}
