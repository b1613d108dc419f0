import { createHash } from 'node:crypto';
import { type WebResults, WebResultsReply, decodeResults } from '@svc/contracts/ports';
import { type Logger, within } from '@svc/runtime';
import type { RedisConnection } from '@svc/storage';
import { LRUCache } from 'lru-cache';

/** Results of recent queries, shared by all accounts: they are public and do not reveal who searched. */
export interface ResultCache {
  /** Never rejects: a result that is missing or too slow is searched for again. */
  get(key: string): Promise<WebResults | undefined>;
  set(key: string, results: WebResults): void;
}

interface CacheBounds {
  readonly entriesAtMost: number;
  readonly lifetimeMs: number;
}

/** The cache of this process. */
export class LocalResultCache implements ResultCache {
  private readonly entries: LRUCache<string, WebResults>;

  constructor({ entriesAtMost, lifetimeMs }: CacheBounds) {
    this.entries = new LRUCache({ max: entriesAtMost, ttl: lifetimeMs });
  }

  get(key: string): Promise<WebResults | undefined> {
    return Promise.resolve(this.entries.get(key));
  }

  set(key: string, results: WebResults): void {
    this.entries.set(key, results);
  }
}

/** A slower response of Redis is not worth the wait. */
const READ_MS = 200;

/**
 * The cache of all processes, in Redis, where each entry lives for its lifetime. Local entries are used
 * first, and they are all there is while Redis is down.
 */
export class SharedResultCache implements ResultCache {
  private readonly own: LocalResultCache;
  private readonly lifetimeMs: number;

  constructor(
    bounds: CacheBounds,
    private readonly redis: RedisConnection,
    private readonly log: Logger,
  ) {
    this.own = new LocalResultCache(bounds);
    this.lifetimeMs = bounds.lifetimeMs;
  }

  async get(key: string): Promise<WebResults | undefined> {
    const known = await this.own.get(key);
    if (known) return known;
    try {
      const text = await within(READ_MS, this.redis.get(redisKey(key)));
      return text === null ? undefined : decodeResults(WebResultsReply.parse(JSON.parse(text)));
    } catch (error) {
      this.log.debug({ err: error }, 'cached search results could not be read');
      return undefined;
    }
  }

  set(key: string, results: WebResults): void {
    this.own.set(key, results);
    // Not awaited: a result that is not stored is searched for again.
    void this.redis
      .set(redisKey(key), JSON.stringify(results), 'PX', this.lifetimeMs)
      .catch((error: unknown) => {
        this.log.debug({ err: error }, 'search results could not be cached');
      });
  }
}

/** Hashed, since queries have any length and characters, and must not be readable in Redis. */
const redisKey = (key: string): string => `search:${createHash('sha256').update(key).digest('base64url')}`;
