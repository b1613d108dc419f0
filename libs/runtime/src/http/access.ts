import type { Access, RouteDefinition } from '@svc/api/route';
import { Problem } from '@svc/contracts/problems';
import type { RouteOptions } from 'fastify';
import type { Incoming, Next, Outgoing } from './incoming.js';
import { CONSOLE_HOME, KnownPaths } from './known-paths.js';
import { routeOf } from './route.js';
import { type InternalToken, type SharedSecret, bearer } from './secrets.js';

/** The kinds of access that a service decides; all others are decided here. */
export type GatedAccess = Exclude<Access, 'probe' | 'desk' | 'internal' | 'process' | 'metrics'>;

/**
 * Authenticates and authorizes a request before its body is read. Provided by the service that owns the
 * routes.
 */
export abstract class AccessGates {
  /**
   * Admits a request, or rejects it by throwing a problem. `false` if a response has been sent already.
   * Returns without a promise if it can decide at once.
   */
  abstract enter(access: GatedAccess, request: Incoming, reply: Outgoing): boolean | Promise<boolean>;
}

/** The tokens and gates by which a process decides access. */
export interface AccessKeys {
  readonly gates?: AccessGates | undefined;
  readonly internalToken?: InternalToken | undefined;
  /** A token that can read metrics and nothing else. */
  readonly metricsToken?: SharedSecret | undefined;
}

interface Entering {
  readonly request: Incoming;
  readonly reply: Outgoing;
  readonly next: Next;
}

const WRONG_TOKEN = 'The internal token is missing or wrong.';
const WRONG_METRICS_TOKEN = 'The token for metrics is missing or wrong.';

/** Checks access to a route by its definition in the catalogue, never by the text of a path. */
export class AccessControl {
  private keys: AccessKeys = {};
  private readonly routes: RouteDefinition[] = [];
  readonly paths = new KnownPaths();

  /** `hasOperatorPort`: whether the operator's routes are served at all. */
  constructor(private readonly hasOperatorPort = false) {}

  /** Every route of the process must be in the catalogue, which defines its access. */
  readonly onRoute = ({ config, method, url }: RouteOptions): void => {
    const route = config?.route;
    if (!route) throw new Error(`${String(method)} ${url} has no definition`);
    if (this.routes.includes(route)) return;
    this.routes.push(route);
    this.paths.add(route);
  };

  /** Throws if a route has a kind of access that this process cannot decide. */
  decideWith(keys: AccessKeys): void {
    this.keys = keys;
    for (const { access, path } of this.routes) {
      // Without any token, these routes reject every request.
      if (access === 'probe' || access === 'desk' || access === 'process' || access === 'metrics') continue;
      if (!(access === 'internal' ? keys.internalToken : keys.gates))
        throw new Error(`no access rule exists for ${path}`);
    }
  }

  /**
   * Calls `next` if the request is admitted, `next` with a problem if not, and nothing if it was answered
   * already.
   */
  enter(route: RouteDefinition, { request, reply, next }: Entering): void {
    try {
      const passed = this.pass(route.access, request, reply);
      if (passed === true) next();
      else if (passed !== false) void goOn(passed, next);
    } catch (error) {
      next(error as Error);
    }
  }

  /**
   * Rejects a request that has no route. A client is authenticated first, so that the failure counts for its
   * key or wallet and not for its address.
   */
  async refuse(problem: Problem, { request, reply, next }: Entering): Promise<void> {
    try {
      if (!request.operatorSide) await this.keys.gates?.enter('public', request, reply);
      next(problem);
    } catch (error) {
      // Wrong credentials change nothing about a path that does not exist.
      next(Problem.from(error).code === 'RATE_LIMIT_EXCEEDED' ? (error as Error) : problem);
    }
  }

  private pass(access: Access, request: Incoming, reply: Outgoing): boolean | Promise<boolean> {
    if (access === 'probe' || access === 'desk') return true;
    if (access === 'metrics' || access === 'process') return this.passToProcess(access, request, reply);
    const { gates, internalToken } = this.keys;
    if (access === 'internal') {
      if (!internalToken) throw new Problem('NOT_FOUND');
      internalToken.demand(request, WRONG_TOKEN);
      return true;
    }
    if (!gates) throw new Problem('NOT_FOUND');
    return gates.enter(access, request, reply);
  }

  /**
   * The operator, or without an operator's port any holder of its internal token. Metrics also have their own
   * token.
   */
  private passToProcess(
    access: 'process' | 'metrics',
    request: Incoming,
    reply: Outgoing,
  ): boolean | Promise<boolean> {
    const { gates, internalToken, metricsToken } = this.keys;
    if (access === 'metrics' && metricsToken?.isEqual(bearer(request.headers.authorization))) return true;
    if (this.hasOperatorPort && gates) return gates.enter('operator', request, reply);
    const wrong = access === 'metrics' ? WRONG_METRICS_TOKEN : WRONG_TOKEN;
    if (!internalToken) throw new Problem('AUTHENTICATION_FAILED', { message: wrong });
    internalToken.demand(request, wrong);
    return true;
  }

  /** Whether a route is served on the given port. */
  serves(access: Access, operatorSide: boolean): boolean {
    switch (access) {
      case 'probe':
        return true;
      case 'operator':
      case 'desk':
        return operatorSide;
      case 'process':
      case 'metrics':
        return operatorSide || !this.hasOperatorPort;
      case 'public':
      case 'key':
      case 'admin':
      case 'key-or-wallet':
      case 'console':
      case 'internal':
        return !operatorSide;
    }
  }
}

/** `next` never throws: Fastify reports later errors to the client. */
async function goOn(passed: Promise<boolean>, next: Next): Promise<void> {
  try {
    if (!(await passed)) return;
  } catch (error) {
    next(error as Error);
    return;
  }
  next();
}

/** Whether a request came for a client route or, without a route, to the clients' port. */
export function isFromClients(request: Incoming): boolean {
  const route = routeOf(request);
  if (!route) return !request.operatorSide;
  return CLIENT_ACCESS.has(route.access) || route.access === 'console';
}

const CLIENT_ACCESS: ReadonlySet<Access> = new Set<Access>(['public', 'key', 'admin', 'key-or-wallet']);

/** Whether clients may use a route, from pages of other origins, too. The console has its own pages. */
export function isForClients({ access, path }: RouteDefinition): boolean {
  return CLIENT_ACCESS.has(access) && !path.startsWith(CONSOLE_HOME);
}
