import { type Access, Problem, type RouteDefinition } from '@svc/contracts';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';
import { KnownPaths } from './known-paths.js';
import { routeOf } from './route.js';
import type { InternalToken } from './secrets.js';

/** The kinds of access that a service decides; the others are decided here. */
export type GatedAccess = Exclude<Access, 'probe' | 'internal'>;

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
}

const WRONG_TOKEN = 'The internal token is missing or wrong.';

/** Asks who may pass to a route by what the catalogue says of it, never by the text of a path. */
export class AccessControl {
  private keys: AccessKeys = {};
  private readonly routes: RouteDefinition[] = [];
  readonly paths = new KnownPaths();

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
      if (access === 'probe') continue;
      if (!(access === 'internal' ? keys.internalToken : keys.gates))
        throw new Error(`nobody answers for who may use ${path}`);
    }
  }

  /** Calls `next` when the request may go on, with a problem when it may not, and not at all when it was answered. */
  enter(
    route: RouteDefinition,
    { request, reply, next }: { request: FastifyRequest; reply: FastifyReply; next: HookHandlerDoneFunction },
  ): void {
    try {
      const passed = this.pass(route.access, request, reply);
      if (passed === true) next();
      else if (passed !== false) void goOn(passed, next);
    } catch (error) {
      next(error as Error);
    }
  }

  private pass(access: Access, request: FastifyRequest, reply: FastifyReply): boolean | Promise<boolean> {
    if (access === 'probe') return true;
    const { gates, internalToken } = this.keys;
    if (access === 'internal') {
      if (!internalToken) throw new Problem('NOT_FOUND');
      internalToken.demand(request, WRONG_TOKEN);
      return true;
    }
    if (!gates) throw new Problem('NOT_FOUND');
    return gates.enter(access, request, reply);
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

/** Whether a route is served on the operator's port, or on the other. */
export function isServedOn(access: Access, operatorSide: boolean): boolean {
  return access === 'probe' || (access === 'operator') === operatorSide;
}

/** Whether a request came for what clients may use, by its route or, where there is none, by its port. */
export function isFromClients(request: FastifyRequest): boolean {
  const route = routeOf(request);
  return route ? isForClients(route) : !request.operatorSide;
}

/** Whether clients may use a route. */
export function isForClients({ access }: RouteDefinition): boolean {
  return access !== 'probe' && access !== 'internal' && access !== 'operator';
}
