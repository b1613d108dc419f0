import type { RouteDefinition } from '@svc/api/route';
import { isForClients } from './access.js';
import type { Incoming, Outgoing } from './incoming.js';
import { isOfConsole, methodsOf } from './known-paths.js';

/** How long browsers may cache a preflight response. */
const REMEMBER_SECONDS = '600';

/** Headers allowed if the preflight names none. */
const USUAL_HEADERS = 'authorization, content-type';

/**
 * Which pages of other origins may call the API (the Fetch standard, CORS). Credentials are in a header that
 * a page has to know, so allowing every origin is safe. Cookies count for the console only, which no other
 * origin may call.
 */
export class CrossOrigin {
  private readonly origins: ReadonlySet<string>;

  /** `origins`: comma-separated, such as `https://app.example`, or `*`; empty allows none. */
  constructor(origins = '') {
    this.origins = new Set(
      origins
        .split(',')
        .map((origin) => origin.trim().toLowerCase())
        .filter(Boolean),
    );
  }

  /** Sets the headers that let a page read the response. */
  allow(request: Incoming, { raw }: Outgoing): boolean {
    const { origin } = request.headers;
    if (origin === undefined || this.origins.size === 0 || isOfConsole(request)) return false;
    raw.setHeader('vary', 'origin');
    if (!this.origins.has('*') && !this.origins.has(origin.toLowerCase())) return false;
    raw.setHeader('access-control-allow-origin', this.origins.has('*') ? '*' : origin);
    raw.setHeader('access-control-expose-headers', '*');
    return true;
  }

  /** Responds to a preflight request; false if the request is not one, or the origin is not allowed. */
  responses(request: Incoming, reply: Outgoing, routes: readonly RouteDefinition[]): boolean {
    const wanted = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || wanted === undefined || !routes.some(isForClients)) return false;
    if (!this.allow(request, reply)) return false;
    const { raw } = reply;
    raw.setHeader('access-control-allow-methods', methodsOf(routes));
    raw.setHeader(
      'access-control-allow-headers',
      request.headers['access-control-request-headers'] ?? USUAL_HEADERS,
    );
    raw.setHeader('access-control-max-age', REMEMBER_SECONDS);
    void reply.status(204).send();
    return true;
  }
}
