import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';

/** The secret that the processes of a deployment share. */
@Injectable()
export class InternalToken {
  private readonly digest: Buffer;

  constructor(token: string) {
    this.digest = digestOf(token);
  }

  /** Compares in a time that tells nothing of where they differ; digests make the lengths equal. */
  isEqual(given: string): boolean {
    return timingSafeEqual(digestOf(given), this.digest);
  }
}

/** Lets processes of the same deployment through, and nobody else. Refuses: AUTHENTICATION_FAILED. */
@Injectable()
export class InternalGate implements CanActivate {
  constructor(private readonly token: InternalToken) {}

  canActivate(context: ExecutionContext): boolean {
    const { authorization = '' } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    if (this.token.isEqual(authorization.replace(/^bearer +/i, ''))) return true;
    throw new Problem('AUTHENTICATION_FAILED', { message: 'The internal token is missing or wrong.' });
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
