import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CallerGate } from './caller-gate.js';

/** Lets the holders of an API key through. A wallet's header counts for nothing here. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(private readonly gate: CallerGate) {}

  /** Refuses: AUTHENTICATION_FAILED. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { headers, record } = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = await this.gate.identify(headers.authorization);
    record.accountId = caller.accountId;
    record.keyId = caller.keyId;
    return true;
  }
}
