import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { bearer } from './caller-gate.js';
import { GatewaySettings } from '../gateway.config.js';

/** Lets the operator through, and nobody else. */
@Injectable()
export class OperatorGate implements CanActivate {
  constructor(private readonly settings: GatewaySettings) {}

  canActivate(context: ExecutionContext): boolean {
    const given = bearer(context.switchToHttp().getRequest<FastifyRequest>().headers.authorization);
    if (given === undefined || !equalSecrets(given, this.settings.operatorToken)) {
      throw new Problem('AUTHENTICATION_FAILED', { message: 'The operator token is missing or wrong.' });
    }
    return true;
  }
}

/** Compares in a time that tells nothing of where they differ; digests make the lengths equal. */
function equalSecrets(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
