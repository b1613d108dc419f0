import { type Access, Problem, type RouteDefinition } from '@svc/contracts';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';
import { KnownPaths } from './known-paths.js';
import { routeOf } from './route.js';
import { type InternalToken, type SharedSecret, bearer } from './secrets.js';

/** The kinds of access that a service decides; the others are decided here. */
export type GatedAccess = Exclude<Access, 'probe' | 'internal' | 'process' | 'metrics'>;

/** Finds out who asks and whether they may, before a body is read. Brought by the service whose routes these are. */
export abstract class AccessGates {
  /**
   * Lets a request through, or refuses it with a problem. `false` when the request has had its answer. What can be
   * told at once is told without a promise.
   */
  abstract enter(
    access: GatedAccess,
    request: FastifyRequest,
    reply: FastifyReply,
  ): boolean | Promise<boolean>;
}

/** What a process decides about access with. */
export interface AccessKeys {
  readonly gates?: AccessGates | undefined;
  readonly internalToken?: InternalToken | undefined;
  /** A token that reads metrics and can do nothing else. */
  readonly metricsToken?: SharedSecret | undefined;
}

interface Entering {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly next: HookHandlerDoneFunction;
}

const WRONG_TOKEN = 'The internal token is missing or wrong.';
const WRONG_METRICS_TOKEN = 'The token for metrics is missing or wrong.';

/** Asks who may pass to a route by what the catalogue says of it, never by the text of a path. */
export class AccessControl {
  private keys: AccessKeys = {};
  private readonly routes: RouteDefinition[] = [];
  readonly paths = new KnownPaths();

  /** `hasOperatorPort` tells whether the operator's routes are served at all. */
  constructor(private readonly hasOperatorPort = false) {}

  /** Every route of the process stands in the catalogue, so that each says who may use it. */
  readonly onRoute = ({ config, method, url }: RouteOptions): void => {
    const route = config?.route;
    if (!route) throw new Error(`${String(method)} ${url} has no definition`);
    if (this.routes.includes(route)) return;
    this.routes.push(route);
    this.paths.add(route);
  };

  /** Refuses what could not be decided: a route whose kind of access has nobody who answers for it. */
  decideWith(keys: AccessKeys): void {
    this.keys = keys;
    for (const { access, path } of this.routes) {
      // Without any token they are used by nobody.
      if (access === 'probe' || access === 'process' || access === 'metrics') continue;
      if (!(access === 'internal' ? keys.internalToken : keys.gates))
        throw new Error(`nobody answers for who may use ${path}`);
    }
  }

  /** Calls `next` when the request may go on, with a problem when it may not, and not at all when it was answered. */
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
   * Refuses a request that has no route. A client is identified first, so that the failure counts for its key or wallet and
   * not for its address.
   */
  async refuse(problem: Problem, { request, reply, next }: Entering): Promise<void> {
    try {
      if (!request.operatorSide) await this.keys.gates?.enter('public', request, reply);
      next(problem);
    } catch (error) {
      // Wrong credentials change nothing about a path that is not there.
      next(Problem.from(error).code === 'RATE_LIMIT_EXCEEDED' ? (error as Error) : problem);
    }
  }

  private pass(access: Access, request: FastifyRequest, reply: FastifyReply): boolean | Promise<boolean> {
    if (access === 'probe') return true;
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

  /** The operator, or where there is none whoever knows the deployment's secret. Metrics have a token of their own as well. */
  private passToProcess(
    access: 'process' | 'metrics',
    request: FastifyRequest,
    reply: FastifyReply,
  ): boolean | Promise<boolean> {
    const { gates, internalToken, metricsToken } = this.keys;
    if (access === 'metrics' && metricsToken?.isEqual(bearer(request.headers.authorization))) return true;
    if (this.hasOperatorPort && gates) return gates.enter('operator', request, reply);
    const wrong = access === 'metrics' ? WRONG_METRICS_TOKEN : WRONG_TOKEN;
    if (!internalToken) throw new Problem('AUTHENTICATION_FAILED', { message: wrong });
    internalToken.demand(request, wrong);
    return true;
  }

  /** Whether a route is served on the operator's port, or on the other. */
  serves(access: Access, operatorSide: boolean): boolean {
    switch (access) {
      case 'probe':
        return true;
      case 'operator':
        return operatorSide;
      case 'process':
      case 'metrics':
        return operatorSide || !this.hasOperatorPort;
      case 'public':
      case 'key':
      case 'admin':
      case 'key-or-wallet':
      case 'internal':
        return !operatorSide;
    }
  }
}

/** `next` never throws: what fails behind it is told to the client by Fastify. */
async function goOn(passed: Promise<boolean>, next: HookHandlerDoneFunction): Promise<void> {
  try {
    if (!(await passed)) return;
  } catch (error) {
    next(error as Error);
    return;
  }
  next();
}

/** Whether a request came for what clients may use, by its route or, where there is none, by its port. */
export function isFromClients(request: FastifyRequest): boolean {
  const route = routeOf(request);
  return route ? isForClients(route) : !request.operatorSide;
}

const CLIENT_ACCESS: ReadonlySet<Access> = new Set<Access>(['public', 'key', 'admin', 'key-or-wallet']);

/** Whether clients may use a route. */
export function isForClients({ access }: RouteDefinition): boolean {
  return CLIENT_ACCESS.has(access);
}
