import type { Incoming } from '@svc/runtime';
import { SESSION_MS } from './session.store.js';

/** The prefix makes browsers insist on `Secure`, on the path `/`, and on this host alone. */
const NAME = '__Host-svc-console';
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** The secret in the cookie of a request, if it has one. */
export function tokenOf({ headers }: Pick<Incoming, 'headers'>): string | undefined {
  const prefix = `${NAME}=`;
  const pair = headers.cookie?.split(';').find((part) => part.trim().startsWith(prefix));
  const token = pair?.trim().slice(prefix.length);
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined;
}

export const sessionCookie = (token: string): string =>
  `${NAME}=${token}; ${ATTRIBUTES}; Max-Age=${SESSION_MS / 1_000}`;

export const NO_SESSION_COOKIE = `${NAME}=; ${ATTRIBUTES}; Max-Age=0`;
