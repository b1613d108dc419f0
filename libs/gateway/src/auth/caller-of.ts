import assert from 'node:assert/strict';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Caller } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';

/** Gives a method behind `CallerGuard` or `AdminGuard` who asks. */
export const CallerOf = createParamDecorator((_: undefined, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  assert(caller, 'nobody comes in past the guard');
  return caller;
});
