import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { CallerEntry } from './caller-entry.js';

/** Lets the holders of an ADMIN key through, and leaves who it is in `request.caller`. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(private readonly entry: CallerEntry) {}

  /** Refuses: AUTHENTICATION_FAILED, UNAVAILABLE. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { keyType } = await this.entry.enter(context.switchToHttp().getRequest<FastifyRequest>());
    if (keyType !== 'ADMIN')
      throw new Problem('AUTHENTICATION_FAILED', { message: 'Admin API key required' });
    return true;
  }
}
