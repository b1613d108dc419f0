import type { WebResults } from '@svc/contracts/ports';
import { createLogger } from '@svc/runtime';
import { connectRedis } from '@svc/storage';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SharedResultCache } from './result-cache.js';

const { skipped, note } = withRedis();
const log = createLogger('silent');
const page = { title: 't', url: 'https://a.example/', content: 'c', publishedAt: '2025-04-16T16:55:11.000Z' };
const results: WebResults = { provider: 'p', pages: [page] };

describe.skipIf(skipped)(`search results cached for all processes${note}`, () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(() => server?.stop());

  async function sharing(lifetimeMs: number) {
    const redis = connectRedis({ url: server.url, name: 'test' });
    const cache = new SharedResultCache({ entriesAtMost: 10, lifetimeMs }, redis, log);
    await expect.poll(() => redis.status).toBe('ready');
    return { cache, close: () => redis.disconnect() };
  }

  it('are found by another process, under a key that hides the query, and only for their lifetime', async () => {
    const [one, other] = [await sharing(60_000), await sharing(60_000)];
    one.cache.set('a secret query', results);
    await expect.poll(() => other.cache.get('a secret query')).toEqual(results);
    expect(await other.cache.get('another')).toBeUndefined();
    const redis = connectRedis({ url: server.url, name: 'look' });
    await expect.poll(() => redis.status).toBe('ready');
    const [key = '', ...others] = await redis.keys('*');
    expect(others).toEqual([]);
    expect(key).not.toContain('secret');
    expect(await redis.pttl(key)).toBeGreaterThan(0);
    redis.disconnect();
    one.close();
    other.close();
  });

  it('are served from the local cache while Redis is down, without delay', async () => {
    const { cache, close } = await sharing(60_000);
    server.signal('SIGSTOP');
    cache.set('x', results);
    expect(await cache.get('x')).toEqual(results);
    expect(await cache.get('y')).toBeUndefined();
    server.signal('SIGCONT');
    close();
  });
});
