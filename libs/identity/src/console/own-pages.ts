import { Problem } from '@svc/contracts/problems';
import type { Incoming } from '@svc/runtime';

/** Methods that change nothing. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Admits only requests that a page of the console itself has sent. Browsers say where a request comes from;
 * what changes something also needs a header and a content type that another origin can send only after a
 * preflight, which it never gets. Refuses: UNAUTHORIZED.
 */
export function demandOwnPage(
  { headers, method }: Pick<Incoming, 'headers' | 'method'>,
  origin: string,
): void {
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined ? headers.origin === origin : site === 'same-origin';
  if (!isOwn) throw refused('Only pages of the console may call it.');
  if (READING.has(method)) return;
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (headers['x-svc-console'] !== '1' || type !== 'application/json')
    throw refused('A change needs `x-svc-console: 1` and the content type `application/json`.');
}

const refused = (message: string): Problem => new Problem('UNAUTHORIZED', { message });
