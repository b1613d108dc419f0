import { Injectable } from '@nestjs/common';
import type { Caller } from '@svc/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FailureGate } from './failure-gate.js';
import { KeyCache } from './key-cache.js';
import { KeyUses } from './key-uses.js';
import { PaymentDemands } from '../wallets/payment-demands.js';
import { Wallets } from '../wallets/wallets.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, where the request showed a key or a sign-in. */
    caller: Caller | undefined;
  }
}

/** What callers are known by. */
@Injectable()
export class Credentials {
  constructor(
    readonly keys: KeyCache,
    readonly uses: KeyUses,
    readonly wallets: Wallets,
  ) {}
}

/** Finds out who a request is from. Turns away who failed too often, whatever they show. */
@Injectable()
export class Callers {
  constructor(
    private readonly credentials: Credentials,
    private readonly failures: FailureGate,
    private readonly demands: PaymentDemands,
  ) {}

  /**
   * Notes who asks on the request, in its log line and for the key's last use. Tells at once who is known.
   * Refuses: AUTHENTICATION_FAILED, RATE_LIMIT_EXCEEDED, UNAVAILABLE.
   */
  known(request: FastifyRequest): Caller | Promise<Caller> {
    const caller = this.credentials.keys.trusted(request.headers.authorization);
    return caller ? this.admit(request, caller) : this.lookUp(request);
  }

  /**
   * Lets a wallet's sign-in in, once. A blocked address hears of its block, and nothing is verified for it.
   * Refuses: the codes of a sign-in, X402_NOT_CONFIGURED, RATE_LIMIT_EXCEEDED, UNAVAILABLE.
   */
  async signedIn(signIn: string, request: FastifyRequest): Promise<Caller> {
    await this.failures.refuseBlocked(request);
    return this.admit(request, await this.credentials.wallets.identify(signIn, request));
  }

  /** Tells who shows nothing how to pay. Refuses: RATE_LIMIT_EXCEEDED. */
  async discover(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.unknown(request);
    await this.demands.discover(request, reply);
  }

  /** One who shows no key. Refuses: RATE_LIMIT_EXCEEDED. */
  unknown(request: FastifyRequest): Promise<void> | undefined {
    return this.failures.refuseBlocked(request);
  }

  private async lookUp(request: FastifyRequest): Promise<Caller> {
    const { authorization } = request.headers;
    // A blocked address hears of its block, and not whether a key is right, which nobody looks up for it.
    if (!this.credentials.keys.knows(authorization)) await this.failures.refuseBlocked(request);
    return this.admit(request, await this.credentials.keys.identify(authorization));
  }

  private admit(request: FastifyRequest, caller: Caller): Caller | Promise<Caller> {
    const { record } = request;
    request.caller = caller;
    record.accountId = caller.accountId;
    record.keyId = caller.keyId;
    const asked = this.failures.refuseBlocked(request);
    if (asked) return asked.then(() => this.use(caller));
    return this.use(caller);
  }

  private use(caller: Caller): Caller {
    if (caller.wallet === undefined) this.credentials.uses.note(caller.keyId);
    return caller;
  }
}
