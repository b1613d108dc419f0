import { createHash } from 'node:crypto';
import { type WebResults, WebResultsReply, decodeResults } from '@svc/contracts';
import { type Logger, within } from '@svc/runtime';
import type { RedisConnection } from '@svc/storage';
import { LRUCache } from 'lru-cache';

/** Results of queries that were asked lately, over all accounts: what the web says is no secret of who asked. */
export interface ResultCache {
  /** Never rejects: what is not known, or can't be told in time, is asked for again. */
  get(key: string): Promise<WebResults | undefined>;
  set(key: string, results: WebResults): void;
}

interface CacheBounds {
  readonly entriesAtMost: number;
  readonly lifetimeMs: number;
}

/** What this process remembers. */
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

/** An answer of Redis that takes longer is not worth the wait. */
const ANSWER_MS = 200;

/**
 * What all processes remember together, in Redis; each entry lives for its lifetime there. What this process knows itself is
 * not asked for, and all that it knows where Redis is away.
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
      const text = await within(ANSWER_MS, this.redis.get(redisKey(key)));
      return text === null ? undefined : decodeResults(WebResultsReply.parse(JSON.parse(text)));
    } catch (error) {
      this.log.debug({ err: error }, 'results of searches could not be looked up');
      return undefined;
    }
  }

  set(key: string, results: WebResults): void {
    this.own.set(key, results);
    // Nobody waits for it, and a search that is not remembered is made again.
    void this.redis
      .set(redisKey(key), JSON.stringify(results), 'PX', this.lifetimeMs)
      .catch((error: unknown) => {
        this.log.debug({ err: error }, 'results of a search could not be remembered');
      });
  }
}

/** Queries are of any length and letters, and nobody's to read there. */
const redisKey = (key: string): string => `search:${createHash('sha256').update(key).digest('base64url')}`;
