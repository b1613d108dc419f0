import { Delete, Get, HttpCode, Patch, Post, Put, applyDecorators } from '@nestjs/common';
import type { RouteDefinition } from '@svc/contracts';

const VERBS = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete };

/** Makes a controller's method answer a route of the catalogue, with the catalogue's status. */
export function Answers(route: RouteDefinition): MethodDecorator {
  return applyDecorators(VERBS[route.method](route.path), HttpCode(route.status));
}
