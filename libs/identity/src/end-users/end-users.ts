import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Caller } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { type Incoming, RequestSteps, routeOf } from '@svc/runtime';
import { LRUCache } from 'lru-cache';
import { IdentitySettings } from '../identity.config.js';
import { endUserId, endUserName } from './end-user-id.js';
import { EndUserLimitsStore, type UserLimits } from './end-user-limits.store.js';

/** End users whose limits are remembered, those that have none included. */
const REMEMBERED = 10_000;

/** Finds whose request of its account each paid request is, and what that end user may do. */
@Injectable()
export class EndUsers implements OnModuleInit {
  private readonly known: LRUCache<string, Promise<UserLimits>>;
  /** Grows when the limits of an account change, so that what is read before counts no more. */
  private readonly changes = new LRUCache<string, number>({ max: 10 * REMEMBERED });

  constructor(
    private readonly steps: RequestSteps,
    private readonly settings: IdentitySettings,
    private readonly limits: EndUserLimitsStore,
  ) {
    const { GATEWAY_KEY_CACHE_MS: ttl } = settings.config;
    this.known = new LRUCache({ max: REMEMBERED, ttl });
  }

  onModuleInit(): void {
    const { GATEWAY_END_USER_HEADER: header } = this.settings.config;
    this.steps.beforeHandler((request) =>
      this.note(request, header === undefined ? undefined : request.headers[header]),
    );
  }

  /** Reads the limits of an account's end users again. */
  forget(accountId: string): void {
    this.changes.set(accountId, (this.changes.get(accountId) ?? 0) + 1);
  }

  forgetAll(): void {
    this.known.clear();
  }

  /** Refuses: UNAVAILABLE if the limits of an end user cannot be read. */
  private note(request: Incoming, header: string | string[] | undefined): true | Promise<true> {
    const { caller } = request;
    if (caller?.userKey === undefined || routeOf(request)?.access !== 'key-or-wallet') return true;
    const name = endUserName(header, request.body);
    if (name === undefined) return true;
    const endUser = endUserId(caller.userKey, name);
    request.caller = { ...caller, endUser };
    return caller.limitsUsers ? this.limited(request, { ...caller, endUser }) : true;
  }

  private async limited(request: Incoming, caller: Caller & { readonly endUser: string }): Promise<true> {
    const { accountId, endUser } = caller;
    const key = `${accountId} ${this.changes.get(accountId) ?? 0} ${endUser}`;
    let limits = this.known.get(key);
    if (!limits) {
      limits = this.limits.of(accountId, endUser);
      this.known.set(key, limits);
      limits.catch(() => this.known.delete(key));
    }
    try {
      request.caller = { ...caller, ...(await limits) };
    } catch (error) {
      throw new Problem('UNAVAILABLE', { cause: error });
    }
    return true;
  }
}
