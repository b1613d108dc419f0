import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, KEY_PREFIX } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { bearer, within } from '@svc/runtime';
import { LRUCache } from 'lru-cache';
import { IdentitySettings } from '../identity.config.js';
import { BatchedLookups } from './batched-lookups.js';
import { type KeyFound, KeyStore } from '../accounts/key.store.js';

/** Keys kept in memory; the least recently used one is dropped first. */
const CACHED_KEYS = 50_000;
/** Wrong keys have a cache of their own, so that a flood of them evicts no valid key. */
const CACHED_WRONG_KEYS = 10_000;
const WRONG_KEY_MS = 1_000;
/**
 * How long a request waits for the lookup of an invalidated or outdated key before the cached key is
 * accepted.
 */
const CONFIRM_MS = 500;
/** Pause after a lookup that failed or timed out, and between refreshes of a key. */
const CONFIRM_AGAIN_MS = 1_000;
/** Concurrent refreshes. They leave most of the ten database connections to other queries. */
const REFRESHES = 4;

interface Cached {
  readonly caller: Caller;
  /** The cache's invalidation count when the key was looked up. */
  readonly invalidations: number;
  /** Until then the key needs no lookup. All times here are on the clock of `performance.now()`. */
  readonly freshUntilMs: number;
  /** From then on, using the key triggers another lookup in the background. */
  refreshAtMs: number;
  /** Until then the key is accepted even if invalidated or outdated, since a lookup has just failed. */
  acceptedUntilMs: number;
}

/**
 * Identifies the holders of keys. Keys are looked up by the SHA-256 of their secret and cached until they
 * change. A key in use is refreshed before its entry expires. While the database does not respond, a cached
 * key is accepted for a bounded time.
 */
@Injectable()
export class KeyCache {
  /** By digest. An entry stays until its key may no longer be accepted under any circumstances. */
  private readonly cache = new LRUCache<string, Cached>({
    // Each counts as 1. Unlike `max`, this limit allocates no memory in advance.
    maxSize: CACHED_KEYS,
    sizeCalculation: () => 1,
    // Reads the clock on each access: the timer that would save this costs more.
    ttlResolution: 0,
    dispose: ({ caller }, digest) => this.unlist(caller, digest),
  });
  private readonly wrong = new LRUCache<string, true>({ max: CACHED_WRONG_KEYS, ttl: WRONG_KEY_MS });
  private readonly digests = new Map<string, Set<string>>();
  /** The last key that was sent on each connection, whose digest costs more than the rest of a lookup. */
  private readonly lastOf = new WeakMap<
    object,
    { readonly authorization: string; readonly digest: string }
  >();
  /** Lookups in progress by digest, shared by concurrent requests. */
  private lookups = new Map<string, Promise<Caller | undefined>>();
  private invalidations = 0;
  private refreshes = 0;

  constructor(
    private readonly keys: KeyStore,
    private readonly batched: BatchedLookups,
    private readonly settings: IdentitySettings,
  ) {}

  /**
   * The holder of the key in this `Authorization` header, if that needs no lookup. `connection` is that of
   * the request: most send the same key every time.
   */
  trusted(authorization: string | undefined, connection: object): Caller | undefined {
    const digest = this.digestIn(authorization, connection);
    const known = digest === undefined ? undefined : this.cache.get(digest);
    if (digest === undefined || !known || !this.isTrusted(known)) return undefined;
    this.refreshAhead(digest, known);
    return known.caller;
  }

  private digestIn(authorization: string | undefined, connection: object): string | undefined {
    const last = this.lastOf.get(connection);
    if (last !== undefined && last.authorization === authorization) return last.digest;
    const secret = keyIn(authorization);
    if (authorization === undefined || secret === undefined) return undefined;
    const digest = digestOf(secret);
    this.lastOf.set(connection, { authorization, digest });
    return digest;
  }

  /**
   * The holder of the key in this `Authorization` header. Suspect lookups, those from addresses with too many
   * failures, share statements. Refuses: AUTHENTICATION_FAILED, UNAVAILABLE.
   */
  async identify(authorization: string | undefined, isSuspect = false): Promise<Caller> {
    const secret = keyIn(authorization);
    if (secret === undefined) throw new Problem('AUTHENTICATION_FAILED');
    const digest = digestOf(secret);
    const known = this.cache.get(digest);
    let caller: Caller | undefined;
    if (!known) caller = this.wrong.has(digest) ? undefined : await this.lookUp(digest, isSuspect);
    else caller = this.isTrusted(known) ? known.caller : await this.confirm(digest, known);
    if (!caller) throw new Problem('AUTHENTICATION_FAILED');
    return caller;
  }

  /** Drops every key of an account, because a key or the account's limits may have changed. */
  forget(accountId: string): void {
    for (const digest of this.digests.get(accountId) ?? []) this.cache.delete(digest);
    this.digests.delete(accountId);
    // Lookups in progress may return data from before the change.
    this.lookups = new Map();
  }

  /**
   * Invalidates all cached keys: each is looked up again before it is trusted, since changes may have been
   * missed.
   */
  invalidate(): void {
    this.invalidations += 1;
    this.lookups = new Map();
  }

  private isTrusted({ invalidations, freshUntilMs, acceptedUntilMs }: Cached): boolean {
    const nowMs = performance.now();
    return (invalidations === this.invalidations && freshUntilMs > nowMs) || acceptedUntilMs > nowMs;
  }

  private refreshAhead(digest: string, known: Cached): void {
    const nowMs = performance.now();
    if (known.refreshAtMs > nowMs || this.refreshes >= REFRESHES) return;
    known.refreshAtMs = nowMs + CONFIRM_AGAIN_MS;
    this.refreshes += 1;
    // Never rejects. After a failed refresh the cached key stays, and a later use retries.
    void this.lookUp(digest)
      .catch(() => undefined)
      .finally(() => (this.refreshes -= 1));
  }

  /** While the database does not respond, the cached key is accepted. */
  private async confirm(digest: string, known: Cached): Promise<Caller | undefined> {
    try {
      return await within(CONFIRM_MS, this.lookUp(digest));
    } catch {
      known.acceptedUntilMs = performance.now() + CONFIRM_AGAIN_MS;
      return known.caller;
    }
  }

  private lookUp(digest: string, isSuspect = false): Promise<Caller | undefined> {
    const { lookups } = this;
    const underWay = lookups.get(digest);
    if (underWay) return underWay;
    const lookup = this.find(digest, isSuspect)
      .then((found) => {
        if (this.lookups === lookups) this.remember(digest, found);
        return found?.caller;
      })
      .finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  private async find(digest: string, isSuspect: boolean): Promise<KeyFound | undefined> {
    try {
      if (isSuspect) return await this.batched.find(digest);
      return (await this.keys.findByDigests([Buffer.from(digest, 'base64')])).get(digest);
    } catch (error) {
      // A failed lookup proves the key neither valid nor wrong.
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }

  private remember(digest: string, found: KeyFound | undefined): void {
    if (!found) {
      this.cache.delete(digest);
      this.wrong.set(digest, true);
      return;
    }
    const { caller, validForMs } = found;
    const { GATEWAY_KEY_CACHE_MS: freshMs, GATEWAY_KEY_STALE_MS: staleMs } = this.settings.config;
    const nowMs = performance.now();
    const cached = {
      caller,
      invalidations: this.invalidations,
      freshUntilMs: nowMs + freshMs,
      refreshAtMs: nowMs + freshMs / 2,
      acceptedUntilMs: 0,
    };
    this.cache.set(digest, cached, { ttl: Math.min(freshMs + staleMs, validForMs) });
    const digests = this.digests.get(caller.accountId) ?? new Set();
    this.digests.set(caller.accountId, digests.add(digest));
  }

  private unlist(caller: Caller, digest: string): void {
    const digests = this.digests.get(caller.accountId);
    digests?.delete(digest);
    if (digests?.size === 0) this.digests.delete(caller.accountId);
  }
}

const digestOf = (secret: string): string => hash('sha256', secret, 'base64');

/** The secret in an `Authorization` header, if it has the prefix of this service's keys. */
function keyIn(authorization: string | undefined): string | undefined {
  const secret = bearer(authorization);
  return secret !== undefined && KEY_PREFIXES.some((prefix) => secret.startsWith(prefix))
    ? secret
    : undefined;
}

const KEY_PREFIXES = Object.values(KEY_PREFIX);
