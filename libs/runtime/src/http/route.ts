import { Delete, Get, HttpCode, Patch, Post, Put, applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { RouteDefinition } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import type { JsonText } from '../json/long-strings.js';
import type { RequestRecord } from './request-record.js';
import type { TracedRequest } from './request-trace.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the log line of this request will say. */
    record: RequestRecord;
    /** The body as it came, on routes that have one. */
    bodyJson: JsonText | null;
    /** Whether it came in on the operator's port. */
    operatorSide: boolean;
    /** What the catalogue says of its route; nothing where there is no route. Asked for often, and dear to Fastify. */
    matchedRoute: RouteDefinition | undefined;
    /** Its trace, once it is known that it may pass; none for probes. */
    traced: TracedRequest | undefined;
  }
  interface FastifyContextConfig {
    /** What the catalogue says of the route. */
    route?: RouteDefinition;
  }
}

const VERBS = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete };

/**
 * Makes a controller's method answer a route of the catalogue, with the catalogue's status. Who may pass, what body is
 * read and what it must look like follow from the route.
 */
export function Answers(route: RouteDefinition): MethodDecorator {
  return applyDecorators(VERBS[route.method](route.path), HttpCode(route.status), RouteConfig({ route }));
}

/** The route that a request has come to, if there is one for its path and method. */
export function routeOf(request: FastifyRequest): RouteDefinition | undefined {
  return request.matchedRoute;
}
