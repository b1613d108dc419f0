import type { RouteDefinition } from '@svc/api/route';
import { validate, validateInSlices } from '@svc/contracts/problems';
import { z } from 'zod';
import type { Incoming, Next } from './incoming.js';
import { routeOf } from './route.js';
import { refuseUnstorable } from '../json/storable-text.js';

/** A JSON text up to this length, not counting long strings, is validated at once. */
const AT_ONCE_CHARACTERS = 16_384;

/** Replaces the parts of a request with the output of the route's schemas. Rejects with INVALID_REQUEST. */
export function validateRequest(request: Incoming, next: Next): void {
  const route = routeOf(request);
  if (!route) {
    next();
    return;
  }
  try {
    const { params, query, isPlainBody } = route;
    // What is streamed is checked as it is read.
    const body = request.bodyStream ? undefined : route.body;
    if (params) request.params = refuseUnstorable(validate(params, paramsOf(route, request.params)));
    if (query) request.query = refuseUnstorable(validate(query, request.query));
    if (body instanceof z.ZodObject && (request.bodyJson?.text.length ?? 0) > AT_ONCE_CHARACTERS) {
      // Reports all faults through `next`.
      void checkInSlices(body, request, next);
      return;
    }
    const isPlain = isPlainBody?.(request.body) === true;
    if (isPlain && request.bodyJson) request.bodyJson.isPlain = true;
    if (body && !isPlain) request.body = validate(body, request.body);
    if (body && isStored(route)) refuseUnstorable(request.body);
  } catch (error) {
    next(error as Error);
    return;
  }
  next();
}

async function checkInSlices(body: z.ZodObject, request: Incoming, next: Next): Promise<void> {
  try {
    request.body = await validateInSlices(body, request.body);
    if (isStored(routeOf(request))) refuseUnstorable(request.body);
  } catch (error) {
    next(error as Error);
    return;
  }
  next();
}

/** Whether parts of a body may be stored. What other processes of the deployment send was checked before. */
const isStored = (route: RouteDefinition | undefined): boolean =>
  route?.body !== undefined && route.passesBody !== true && route.access !== 'internal';

/** A wildcard parameter gets its name from the schema. */
function paramsOf({ path, params }: RouteDefinition, given: unknown): unknown {
  if (!path.endsWith('*')) return given;
  const [name = '*'] = Object.keys(params?.shape ?? {});
  return { [name]: (given as { '*': string })['*'] };
}
