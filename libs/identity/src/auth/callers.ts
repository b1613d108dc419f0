import { Injectable } from '@nestjs/common';
import { type Caller, isOfKey } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { StoredSession } from '../console/session.store.js';
import { Sessions } from '../console/sessions.js';
import { refuseUse } from '../accounts/key-use.js';
import { FailureGate } from '../failures/failure-gate.js';
import { KeyCache } from './key-cache.js';
import { KeyUses } from './key-uses.js';
import { PaymentDemands } from '../wallets/payment-demands.js';
import { Wallets } from '../wallets/wallets.js';
import type { Incoming, Outgoing } from '@svc/runtime';

/** The key of a request. Clients of Anthropic's API have a header of their own, and may send both. */
export function authorizationOf({ headers }: Incoming): string | undefined {
  const { authorization, 'x-api-key': key } = headers;
  return authorization ?? (key === undefined ? undefined : `Bearer ${String(key)}`);
}

/** Status of a request whose credentials are missing or wrong. */
const UNAUTHENTICATED = 401;

/**
 * Identifies callers. Credentials are verified first: the failures of a valid caller count for its key or
 * wallet, and only requests without valid credentials are refused because of their address.
 */
@Injectable()
export class Callers {
  constructor(
    private readonly keys: KeyCache,
    private readonly uses: KeyUses,
    private readonly wallets: Wallets,
    private readonly failures: FailureGate,
    private readonly demands: PaymentDemands,
    private readonly sessions: Sessions,
  ) {}

  /**
   * The holder of the request's API key, also set on the request and its log line. Returns without a promise
   * when the key is cached. Refuses: AUTHENTICATION_FAILED, ACCOUNT_SUSPENDED, ADDRESS_NOT_ALLOWED,
   * ENDPOINT_NOT_ALLOWED, RATE_LIMIT_EXCEEDED, UNAVAILABLE.
   */
  known(request: Incoming): Caller | Promise<Caller> {
    const authorization = authorizationOf(request);
    const caller = this.keys.trusted(authorization, request.socket);
    if (caller) return this.admit(request, caller);
    return this.verified(request, this.keys.identify(authorization, this.failures.isBlocked(request)));
  }

  /**
   * The wallet of a sign-in, which is valid once. Refuses: the codes of a sign-in, X402_NOT_CONFIGURED,
   * ACCOUNT_SUSPENDED, RATE_LIMIT_EXCEEDED, UNAVAILABLE.
   */
  signedIn(signIn: string, request: Incoming): Promise<Caller> {
    const isSuspect = this.failures.isBlocked(request);
    return this.verified(request, this.wallets.identify(signIn, request, isSuspect));
  }

  /**
   * The session of the console that the request's cookie names, also set on the request; undefined without
   * one. Refuses: ACCOUNT_SUSPENDED, RATE_LIMIT_EXCEEDED, UNAVAILABLE.
   */
  async inSession(request: Incoming): Promise<StoredSession | undefined> {
    const session = await this.sessions.of(request, this.failures.isBlocked(request));
    if (!session) {
      await this.unknown(request);
      return undefined;
    }
    request.session = session;
    await this.admit(request, session.caller);
    return session;
  }

  /** Sends the payment discovery to a caller without credentials. Refuses: RATE_LIMIT_EXCEEDED. */
  async discover(request: Incoming, reply: Outgoing): Promise<void> {
    await this.unknown(request);
    await this.demands.discover(request, reply);
  }

  /** A caller without credentials. Refuses: RATE_LIMIT_EXCEEDED. */
  unknown(request: Incoming): Promise<void> | undefined {
    return this.failures.refuseBlocked(request);
  }

  /**
   * A caller for whom this process has sent the request to itself. Refuses: ACCOUNT_SUSPENDED,
   * AUTHENTICATION_FAILED, ENDPOINT_NOT_ALLOWED.
   */
  admitInner(caller: Caller, request: Incoming): true {
    request.caller = caller;
    request.record.accountId = caller.accountId;
    request.record.keyId = caller.keyId;
    this.use(caller, request);
    return true;
  }

  private async verified(request: Incoming, identified: Promise<Caller>): Promise<Caller> {
    let caller: Caller;
    try {
      caller = await identified;
    } catch (error) {
      if (Problem.from(error).status === UNAUTHENTICATED) await this.failures.refuseBlocked(request);
      throw error;
    }
    return this.admit(request, caller);
  }

  private admit(request: Incoming, caller: Caller): Caller | Promise<Caller> {
    const { record } = request;
    request.caller = caller;
    record.accountId = caller.accountId;
    record.keyId = caller.keyId;
    const lookup = this.failures.refuseBlocked(request);
    if (lookup) return lookup.then(() => this.use(caller, request));
    return this.use(caller, request);
  }

  private use(caller: Caller, request: Incoming): Caller {
    if (caller.isSuspended) throw new Problem('ACCOUNT_SUSPENDED');
    refuseUse(caller, request);
    if (isOfKey(caller.keyId)) this.uses.note(caller.keyId);
    return caller;
  }
}
