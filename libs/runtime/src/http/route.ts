import { Delete, Get, HttpCode, Patch, Post, Put, SetMetadata, applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { Caller } from '@svc/contracts/ports';
import type { ErrorShape, RouteDefinition } from '@svc/api/route';
import { MESSAGE_ERRORS } from '@svc/api/messages';
import type { Incoming, Outgoing } from './incoming.js';
import type { JsonText } from '../json/json-text.js';
import type { RequestRecord } from './request-record.js';
import type { TracedRequest } from './request-trace.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The fields of this request's log line. */
    record: RequestRecord;
    /** The body as received, on routes that have one. */
    bodyJson: JsonText | null;
    /** The body of a route whose handler reads it while it is received. */
    bodyStream: AsyncIterable<Buffer> | undefined;
    /** The caller, when the request has valid credentials. */
    caller?: Caller;
    /** Whether the request came in on the operator's port. */
    operatorSide: boolean;
    /**
     * The catalogue's definition of the route, if there is one. Cached: it is read often, and Fastify's
     * lookup is slow.
     */
    matchedRoute: RouteDefinition | undefined;
    /** The trace, once the request is admitted; none for probes. */
    traced: TracedRequest | undefined;
  }
  interface FastifyContextConfig {
    /** The catalogue's definition of the route. */
    route?: RouteDefinition;
  }
}

const VERBS = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete };

/**
 * Binds a controller method to a route of the catalogue, with its status. Access, body and validation follow
 * from the route. A direct one has no parameters in its path, and its method writes the response itself; its
 * parameters are the request and the reply.
 */
export function Serves(route: RouteDefinition, { isDirect = false } = {}): MethodDecorator {
  const decorators = [VERBS[route.method](route.path), HttpCode(route.status), RouteConfig({ route })];
  return applyDecorators(...decorators, ...(isDirect ? [SetMetadata(DIRECT, route)] : []));
}

/** What a method of a direct route is marked with: its route. */
const DIRECT = 'svc:direct';

/** A method that serves a route without Fastify and Nest's steps around it. */
export interface DirectMethod {
  readonly route: RouteDefinition;
  readonly handler: (request: Incoming, reply: Outgoing) => Promise<void>;
}

/** The methods of a controller that serve direct routes. */
export function directMethods(controller: object): DirectMethod[] {
  const methods = Object.getPrototypeOf(controller) as Record<string, unknown>;
  return Object.getOwnPropertyNames(methods).flatMap((name) => {
    const method: unknown = Object.getOwnPropertyDescriptor(methods, name)?.value;
    if (typeof method !== 'function') return [];
    const route = Reflect.getMetadata(DIRECT, method) as RouteDefinition | undefined;
    const handler = (method as DirectMethod['handler']).bind(controller);
    return route ? [{ route, handler }] : [];
  });
}

/** The route that matches the request's path and method, if any. */
export function routeOf(request: Incoming): RouteDefinition | undefined {
  return request.matchedRoute;
}

/**
 * The errors that the client expects: those of the route, and where there is no route those of Anthropic's
 * API for its clients, all of which send this header. `undefined` for the common envelope.
 */
export function errorsOf(request: Incoming): ErrorShape | undefined {
  const { matchedRoute } = request;
  if (matchedRoute) return matchedRoute.errors;
  return request.headers['anthropic-version'] === undefined ? undefined : MESSAGE_ERRORS;
}
