import { signal } from '@preact/signals';
import { CallError } from './call-error.js';
import { type RequestInput, callsBy, exchange, filled } from './exchange.js';
import type { RouteMethod } from './routes.js';

/** Counts the responses that said that the session has ended; the shell then shows the sign-in page. */
export const sessionEnds = signal(0);

const PREFIX = '/console';

/** The address of a route for the session of this browser. */
function addressOf(path: string, input: RequestInput): string {
  const address = filled(path, input);
  return address.startsWith(PREFIX) ? address : `${PREFIX}${address}`;
}

/** Sends a request and resolves with its response if that is a success. */
export async function send(method: RouteMethod, path: string, input: RequestInput): Promise<Response> {
  const headers: Record<string, string> = { ...input.headers };
  if (method !== 'GET') {
    headers['content-type'] = 'application/json';
    headers['x-svc-console'] = '1';
  }
  try {
    return await exchange(method, addressOf(path, input), { ...input, headers });
  } catch (error) {
    if (error instanceof CallError && error.status === 401 && isEndOfSession(path, error))
      sessionEnds.value += 1;
    throw error;
  }
}

/** A wrong key in a sign-in, and a key without the right to a route, end no session. */
const isEndOfSession = (path: string, { message }: CallError): boolean =>
  !path.startsWith(`${PREFIX}/api/session`) && !message.startsWith('Admin API key');

/** Calls a route of the API with the session of this browser. */
export const call = callsBy(send);
