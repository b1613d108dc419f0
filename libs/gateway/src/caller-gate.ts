import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, KEY_PREFIX, Problem } from '@svc/contracts';
import { GatewaySettings } from './gateway.config.js';
import { type KeyFound, KeyStore } from './key.store.js';

/** Keys kept in memory; the longest unused goes first. */
const CACHED_KEYS = 50_000;

interface Cached {
  /** `undefined` for a secret that is no key. */
  readonly caller: Caller | undefined;
  readonly untilMs: number;
}

/** Tells who asks. Keys are looked up by the SHA-256 of their secret and remembered for a while. */
@Injectable()
export class CallerGate {
  private readonly cache = new Map<string, Cached>();

  constructor(
    private readonly keys: KeyStore,
    private readonly settings: GatewaySettings,
  ) {}

  /** The caller whose key is in this `Authorization` header. Refuses: AUTHENTICATION_FAILED, UNAVAILABLE. */
  async identify(authorization: string | undefined): Promise<Caller> {
    const secret = bearer(authorization);
    if (!secret?.startsWith(KEY_PREFIX.INFERENCE) && !secret?.startsWith(KEY_PREFIX.ADMIN)) {
      throw new Problem('AUTHENTICATION_FAILED');
    }
    const digest = hash('sha256', secret, 'base64');
    const caller = this.remembered(digest) ?? (await this.lookUp(digest));
    if (!caller) throw new Problem('AUTHENTICATION_FAILED');
    return caller;
  }

  /** Forgets every key of an account, or all keys. */
  forget(accountId?: string): void {
    if (accountId === undefined) this.cache.clear();
    for (const [digest, { caller }] of this.cache)
      if (caller?.accountId === accountId) this.cache.delete(digest);
  }

  private remembered(digest: string): Caller | undefined {
    const known = this.cache.get(digest);
    if (!known) return undefined;
    if (known.untilMs <= performance.now()) {
      this.cache.delete(digest);
      return undefined;
    }
    if (!known.caller) throw new Problem('AUTHENTICATION_FAILED');
    return known.caller;
  }

  private async find(digest: string): Promise<KeyFound | undefined> {
    try {
      return await this.keys.findByDigest(Buffer.from(digest, 'base64'));
    } catch (error) {
      // Nobody is let in on a guess, and nobody is told that their key is wrong when it could not be looked up.
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }

  private async lookUp(digest: string): Promise<Caller | undefined> {
    const found = await this.find(digest);
    // A wrong key is remembered as well, but briefly: one that was just made must work.
    const keepMs = found ? Math.min(this.settings.config.GATEWAY_KEY_CACHE_MS, found.validForMs) : 1_000;
    this.cache.set(digest, { caller: found?.caller, untilMs: performance.now() + keepMs });
    const [oldest] = this.cache.keys();
    if (this.cache.size > CACHED_KEYS && oldest !== undefined) this.cache.delete(oldest);
    return found?.caller;
  }
}

/** The token of a Bearer header. */
export function bearer(authorization: string | undefined): string | undefined {
  return authorization !== undefined && /^bearer /i.test(authorization)
    ? authorization.slice(7).trim()
    : undefined;
}
