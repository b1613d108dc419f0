import { Injectable } from '@nestjs/common';
import type { Caller } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { FailureGate } from './failure-gate.js';
import { KeyCache } from './key-cache.js';
import { KeyUses } from './key-uses.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, where the request showed a key. */
    caller: Caller | undefined;
  }
}

/** Finds out who a request is from. Turns away who failed too often, whatever they show. */
@Injectable()
export class Callers {
  constructor(
    private readonly keys: KeyCache,
    private readonly uses: KeyUses,
    private readonly failures: FailureGate,
  ) {}

  /**
   * Notes who asks on the request, in its log line and for the key's last use.
   * Refuses: AUTHENTICATION_FAILED, RATE_LIMIT_EXCEEDED, UNAVAILABLE.
   */
  async known(request: FastifyRequest): Promise<Caller> {
    const { headers, record } = request;
    const caller = await this.identify(request, headers.authorization);
    request.caller = caller;
    record.accountId = caller.accountId;
    record.keyId = caller.keyId;
    await this.failures.refuseBlocked(request);
    this.uses.note(caller.keyId);
    return caller;
  }

  /** One who shows no key. Refuses: RATE_LIMIT_EXCEEDED. */
  async unknown(request: FastifyRequest): Promise<void> {
    await this.failures.refuseBlocked(request);
  }

  private async identify(request: FastifyRequest, authorization: string | undefined): Promise<Caller> {
    // A blocked address hears of its block, and not whether a key is right, which nobody looks up for it.
    if (!this.keys.knows(authorization)) await this.failures.refuseBlocked(request);
    return this.keys.identify(authorization);
  }
}
