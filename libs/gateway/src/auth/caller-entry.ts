import { Injectable } from '@nestjs/common';
import type { Caller } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { CallerGate } from './caller-gate.js';
import { FailureGate } from './failure-gate.js';
import { KeyUses } from './key-uses.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, where the request showed a key. */
    caller: Caller | undefined;
  }
}

/** Finds out who a request is from, and notes it on the request, in its log line and for the key's last use. */
@Injectable()
export class CallerEntry {
  constructor(
    private readonly gate: CallerGate,
    private readonly uses: KeyUses,
    private readonly failures: FailureGate,
  ) {}

  /** Refuses: AUTHENTICATION_FAILED, RATE_LIMIT_EXCEEDED for one who failed too often, UNAVAILABLE. */
  async enter(request: FastifyRequest): Promise<Caller> {
    const { headers, record } = request;
    const caller = await this.identify(request, headers.authorization);
    request.caller = caller;
    record.accountId = caller.accountId;
    record.keyId = caller.keyId;
    await this.failures.refuseBlocked(request);
    this.uses.note(caller.keyId);
    return caller;
  }

  /** Lets one through who shows no key. Refuses: RATE_LIMIT_EXCEEDED. */
  async enterUnknown(request: FastifyRequest): Promise<void> {
    await this.failures.refuseBlocked(request);
  }

  private async identify(request: FastifyRequest, authorization: string | undefined): Promise<Caller> {
    try {
      return await this.gate.identify(authorization);
    } catch (error) {
      // A blocked address hears of its block, and not whether a key is right.
      await this.failures.refuseBlocked(request);
      throw error;
    }
  }
}
