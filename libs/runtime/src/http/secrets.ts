import { hash, timingSafeEqual } from 'node:crypto';
import { Problem } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { StartFault } from '../start-fault.js';

/** A secret of the deployment has at least so many characters. */
export const SECRET_LENGTH = 32;

/** A secret that requests show as a Bearer token. */
export class SharedSecret {
  private readonly digest: Buffer;

  /** Refuses a secret that is too short to be one, so that an empty one can't equal anything. */
  constructor(secret: string) {
    if (secret.length < SECRET_LENGTH)
      throw new StartFault(`A secret has at least ${SECRET_LENGTH} characters.`);
    this.digest = digestOf(secret);
  }

  /** Compares in a time that tells nothing of where they differ; digests make the lengths equal. */
  isEqual(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(digestOf(given), this.digest);
  }

  /** Refuses a request that does not show it: AUTHENTICATION_FAILED. */
  demand(request: FastifyRequest, message: string): void {
    if (!this.isEqual(bearer(request.headers.authorization)))
      throw new Problem('AUTHENTICATION_FAILED', { message });
  }
}

/** The secret that the processes of a deployment share. */
export class InternalToken extends SharedSecret {}

/** The token of a Bearer header. */
export function bearer(authorization: string | undefined): string | undefined {
  return authorization !== undefined && /^bearer /i.test(authorization)
    ? authorization.slice(7).trim()
    : undefined;
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
