import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CallerEntry } from './caller-entry.js';
import { keyIn } from './caller-gate.js';

/** Lets the holders of an API key through. A wallet's header counts for nothing here. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(private readonly entry: CallerEntry) {}

  /** Refuses: AUTHENTICATION_FAILED, UNAVAILABLE. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.entry.enter(context.switchToHttp().getRequest<FastifyRequest>());
    return true;
  }
}

/**
 * Lets everybody through, but nobody with a wrong key. Who shows a right one is known by it. What does not look like a
 * key of this service counts for nothing: clients that have to send something send anything.
 */
@Injectable()
export class VisitorGuard implements CanActivate {
  constructor(private readonly entry: CallerEntry) {}

  /** Refuses: AUTHENTICATION_FAILED, UNAVAILABLE. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (keyIn(request.headers.authorization) === undefined) await this.entry.enterUnknown(request);
    else await this.entry.enter(request);
    return true;
  }
}
