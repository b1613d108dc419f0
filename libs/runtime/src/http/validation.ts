import { type RouteDefinition, validate } from '@svc/contracts';
import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { routeOf } from './route.js';

/** Puts what the schemas of a route make of a request in place of what came. Refuses: INVALID_REQUEST. */
export function validateRequest(
  request: FastifyRequest,
  _reply: unknown,
  next: HookHandlerDoneFunction,
): void {
  const route = routeOf(request);
  if (route) {
    try {
      const { params, query, body } = route;
      if (params) request.params = validate(params, paramsOf(route, request.params));
      if (query) request.query = validate(query, request.query);
      if (body) request.body = validate(body, request.body);
    } catch (error) {
      next(error as Error);
      return;
    }
  }
  next();
}

/** A parameter that is all of the path that is left has its name from the schema. */
function paramsOf({ path, params }: RouteDefinition, given: unknown): unknown {
  if (!path.endsWith('*')) return given;
  const [name = '*'] = Object.keys(params?.shape ?? {});
  return { [name]: (given as { '*': string })['*'] };
}
