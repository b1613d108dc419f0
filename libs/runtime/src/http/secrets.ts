import { hash, timingSafeEqual } from 'node:crypto';
import { Problem } from '@svc/contracts/problems';
import type { Incoming } from './incoming.js';
import { StartFault } from '../start-fault.js';

/** The shortest secret of a deployment. */
export const SECRET_LENGTH = 32;

/** A secret that requests send as a Bearer token; during a rotation, either of two values. */
export class SharedSecret {
  private readonly digests: readonly Buffer[];

  /** Throws if a secret is too short, so that an empty one never matches. */
  constructor(secret: string, second?: string) {
    const secrets = second === undefined ? [secret] : [secret, second];
    if (secrets.some(({ length }) => length < SECRET_LENGTH))
      throw new StartFault(`A secret has at least ${SECRET_LENGTH} characters.`);
    this.digests = secrets.map(digestOf);
  }

  /** Compares with each value in constant time; digests make the lengths equal. */
  isEqual(given: string | undefined): boolean {
    if (given === undefined) return false;
    const digest = digestOf(given);
    return this.digests.filter((each) => timingSafeEqual(digest, each)).length > 0;
  }

  /** Rejects a request without the secret: AUTHENTICATION_FAILED. */
  demand(request: Incoming, message: string): void {
    if (!this.isEqual(bearer(request.headers.authorization)))
      throw new Problem('AUTHENTICATION_FAILED', { message });
  }
}

/** The secret by which callers of a process authenticate. */
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
