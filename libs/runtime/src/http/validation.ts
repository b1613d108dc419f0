import { type RouteDefinition, validate, validateInSlices } from '@svc/contracts';
import { z } from 'zod';
import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { routeOf } from './route.js';

/** Of a JSON text up to this length, its long strings aside, all parts are checked at once. */
const AT_ONCE_CHARACTERS = 16_384;

/** Puts what the schemas of a route make of a request in place of what came. Refuses: INVALID_REQUEST. */
export function validateRequest(
  request: FastifyRequest,
  _reply: unknown,
  next: HookHandlerDoneFunction,
): void {
  const route = routeOf(request);
  if (!route) {
    next();
    return;
  }
  try {
    const { params, query, body } = route;
    if (params) request.params = validate(params, paramsOf(route, request.params));
    if (query) request.query = validate(query, request.query);
    if (body instanceof z.ZodObject && (request.bodyJson?.text.length ?? 0) > AT_ONCE_CHARACTERS) {
      // It tells all faults through `next`.
      void checkInSlices(body, request, next);
      return;
    }
    if (body) request.body = validate(body, request.body);
  } catch (error) {
    next(error as Error);
    return;
  }
  next();
}

async function checkInSlices(
  body: z.ZodObject,
  request: FastifyRequest,
  next: HookHandlerDoneFunction,
): Promise<void> {
  try {
    request.body = await validateInSlices(body, request.body);
  } catch (error) {
    next(error as Error);
    return;
  }
  next();
}

/** A parameter that is all of the path that is left has its name from the schema. */
function paramsOf({ path, params }: RouteDefinition, given: unknown): unknown {
  if (!path.endsWith('*')) return given;
  const [name = '*'] = Object.keys(params?.shape ?? {});
  return { [name]: (given as { '*': string })['*'] };
}
