import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, KEY_PREFIX, Problem } from '@svc/contracts';
import { bearer, within } from '@svc/runtime';
import { LRUCache } from 'lru-cache';
import { GatewaySettings } from '../gateway.config.js';
import { type KeyFound, KeyStore } from './key.store.js';

/** Keys kept in memory; the one that was used longest ago goes first. */
const CACHED_KEYS = 50_000;
/** A secret that is no key is remembered for so long. */
const WRONG_KEY_MS = 1_000;
/** Looking a doubtful key up may take so long, and is tried again after so long. */
const CONFIRM_MS = 500;
const CONFIRM_AGAIN_MS = 1_000;

interface Cached {
  /** `undefined` for a secret that is no key. */
  readonly caller: Caller | undefined;
  /** How often doubt had been cast when it was looked up. */
  readonly doubts: number;
  /** A doubtful key counts until then on the clock of `performance.now()`: it could not be looked up just now. */
  countsUntilMs: number;
}

/** Tells who asks. Keys are looked up by the SHA-256 of their secret and remembered until they change. */
@Injectable()
export class KeyCache {
  /** By digest, each until it is not to be trusted any more. */
  private readonly cache = new LRUCache<string, Cached>({
    max: CACHED_KEYS,
    // The clock is read each time: the timer that would spare it costs more.
    ttlResolution: 0,
    dispose: ({ caller }, digest) => this.unlist(caller, digest),
  });
  private readonly digests = new Map<string, Set<string>>();
  /** One for each digest, shared by all who ask meanwhile. */
  private lookups = new Map<string, Promise<Caller | undefined>>();
  private doubts = 0;

  constructor(
    private readonly keys: KeyStore,
    private readonly settings: GatewaySettings,
  ) {}

  /** Whether the key in this `Authorization` header was right when it was last looked up. */
  knows(authorization: string | undefined): boolean {
    const secret = keyIn(authorization);
    return secret !== undefined && this.cache.peek(digestOf(secret))?.caller !== undefined;
  }

  /** The caller whose key is in this `Authorization` header, where that needs no looking up. */
  trusted(authorization: string | undefined): Caller | undefined {
    const secret = keyIn(authorization);
    const known = secret === undefined ? undefined : this.cache.get(digestOf(secret));
    return known && this.isTrusted(known) ? known.caller : undefined;
  }

  /** The caller whose key is in this `Authorization` header. Refuses: AUTHENTICATION_FAILED, UNAVAILABLE. */
  async identify(authorization: string | undefined): Promise<Caller> {
    const secret = keyIn(authorization);
    if (secret === undefined) throw new Problem('AUTHENTICATION_FAILED');
    const digest = digestOf(secret);
    const known = this.cache.get(digest);
    let caller: Caller | undefined;
    if (!known) caller = await this.lookUp(digest);
    else caller = this.isTrusted(known) ? known.caller : await this.confirm(digest, known);
    if (!caller) throw new Problem('AUTHENTICATION_FAILED');
    return caller;
  }

  /** Forgets every key of an account: one of them, or its limits, may have changed. */
  forget(accountId: string): void {
    for (const digest of this.digests.get(accountId) ?? []) this.cache.delete(digest);
    this.digests.delete(accountId);
    // What is being read may be from before the change.
    this.lookups = new Map();
  }

  /** Looks every key up again before it counts, since changes may have been missed. */
  doubt(): void {
    this.doubts += 1;
    this.lookups = new Map();
  }

  private isTrusted({ doubts, countsUntilMs }: Cached): boolean {
    return doubts === this.doubts || countsUntilMs > performance.now();
  }

  /** While the database does not answer, a key counts as before: until its time is up. */
  private async confirm(digest: string, known: Cached): Promise<Caller | undefined> {
    try {
      return await within(CONFIRM_MS, this.lookUp(digest));
    } catch {
      known.countsUntilMs = performance.now() + CONFIRM_AGAIN_MS;
      return known.caller;
    }
  }

  private lookUp(digest: string): Promise<Caller | undefined> {
    const { lookups } = this;
    const underWay = lookups.get(digest);
    if (underWay) return underWay;
    const lookup = this.find(digest)
      .then((found) => {
        if (this.lookups === lookups) this.remember(digest, found);
        return found?.caller;
      })
      .finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  private async find(digest: string): Promise<KeyFound | undefined> {
    try {
      return await this.keys.findByDigest(Buffer.from(digest, 'base64'));
    } catch (error) {
      // Nobody is let in on a guess, and nobody is told that their key is wrong when it could not be looked up.
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }

  private remember(digest: string, found: KeyFound | undefined): void {
    const caller = found?.caller;
    // A wrong key is remembered as well, but briefly.
    const keepMs = found
      ? Math.min(this.settings.config.GATEWAY_KEY_CACHE_MS, found.validForMs)
      : WRONG_KEY_MS;
    this.cache.set(digest, { caller, doubts: this.doubts, countsUntilMs: 0 }, { ttl: keepMs });
    if (!caller) return;
    const digests = this.digests.get(caller.accountId) ?? new Set();
    this.digests.set(caller.accountId, digests.add(digest));
  }

  private unlist(caller: Caller | undefined, digest: string): void {
    if (!caller) return;
    const digests = this.digests.get(caller.accountId);
    digests?.delete(digest);
    if (digests?.size === 0) this.digests.delete(caller.accountId);
  }
}

const digestOf = (secret: string): string => hash('sha256', secret, 'base64');

/** What looks like a key of this service in an `Authorization` header. */
function keyIn(authorization: string | undefined): string | undefined {
  const secret = bearer(authorization);
  return secret !== undefined && KEY_PREFIXES.some((prefix) => secret.startsWith(prefix))
    ? secret
    : undefined;
}

const KEY_PREFIXES = Object.values(KEY_PREFIX);
