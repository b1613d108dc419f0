import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis } from '@svc/storage';
import { type TestRedis, startTestRedis, startTestRedisCluster, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AMPLE, admitRequest, refusedFor } from '../../test/admit-request.js';
import { limiterConformance } from '../../test/limiter.conformance.js';
import { type LimiterTimes, STANDARD_TIMES } from './memory-limiter.js';
import { RedisLimiter } from './redis-limiter.js';

/** Long enough that no response on a busy machine is too late. */
const FORGET_AFTER_MS = 30_000;
/** Long enough that nothing lapses during a test. */
const LONG_MS = 600_000;

let redis: TestRedis;

async function connect(times: Partial<LimiterTimes> = {}, { url }: { readonly url: string } = redis) {
  const client = connectRedis({ url, name: 'test' });
  const limiter = new RedisLimiter(client, { ...STANDARD_TIMES, ...times, forgetAfterMs: FORGET_AFTER_MS });
  while (client.status !== 'ready') await sleep(5);
  // A cluster connects to a node with its first command, which may take longer than a call may.
  if ('nodes' in client) await Promise.all(client.nodes().map((node) => node.ping()));
  return { client, limiter };
}

async function callsOf(client: ReturnType<typeof connectRedis>) {
  const text = await client.info('commandstats');
  const calls = (command: string): number =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
  return { evalsha: calls('evalsha'), eval: calls('eval') };
}

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`RedisLimiter${note}`, () => {
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis?.stop());

  limiterConformance({
    name: 'the port',
    start: async (times) => {
      const { limiter } = await connect(times);
      return { limiter, pass: (ms) => sleep(ms), stop: () => limiter.close() };
    },
  });

  it('makes one round trip per call', async () => {
    const { client, limiter } = await connect();
    const request = admitRequest({ concurrent: 5 });
    await limiter.settle(request, await limiter.admit(request), { tokens: 2 });
    await limiter.failed('ip:::1');
    await limiter.blocked('ip:::1');
    const { accountId, keyId, resource, limits } = request;
    const peek = { accountId, keyId, limits: limits.map((limit) => ({ resource, limit })) };
    await limiter.peek(peek);
    const before = await callsOf(client);
    const second = { ...request, requestId: 'second' };
    await limiter.settle(second, await limiter.admit(second), { tokens: 2 });
    await limiter.failed('ip:::1');
    await limiter.blocked('ip:::1');
    await limiter.peek(peek);
    const after = await callsOf(client);
    const calls = { scripts: after.evalsha - before.evalsha, whole: after.eval - before.eval };
    expect(calls).toEqual({ scripts: 5, whole: 0 });
    await limiter.close();
  });

  it('leaves no key on the server without an expiry', async () => {
    const { client, limiter } = await connect({
      leaseMs: LONG_MS,
      failureWindowMs: LONG_MS,
    });
    await client.flushall();
    const limits = { user: AMPLE, api_key: { requestsPerMinute: 5 }, global: { requestsPerMinute: 5 } };
    await limiter.admit(admitRequest({ concurrent: 5, limits, windowMs: LONG_MS }));
    for (let time = 0; time < 21; time += 1) await limiter.failed('ip:1');
    await limiter.failed('ip:2');
    await limiter.probe();
    const keys = await client.keys('*');
    // Two windows of the account, a global one, the running requests, a block, a list of failures, the probe.
    expect(keys).toHaveLength(7);
    for (const key of keys) {
      const leftMs = await client.pttl(key);
      expect([key, leftMs > 0 && leftMs <= 3 * LONG_MS]).toEqual([key, true]);
    }
    await limiter.close();
  });

  it('starts over on an emptied server, without losing anything else', async () => {
    const { client, limiter } = await connect();
    const limits = { user: { requestsPerMinute: 1, tokensPerMinute: 100 } };
    const request = admitRequest({ limits, concurrent: 1, windowMs: LONG_MS });
    const first = await limiter.admit(request);
    await client.flushall();
    await client.script('FLUSH');
    const admissions = await Promise.all(
      Array.from({ length: 50 }, () => limiter.admit({ ...request, requestId: randomUUID() })),
    );
    expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(1);
    // The earlier request has nothing left to return.
    await limiter.release(request, first);
    expect(refusedFor(await limiter.admit({ ...request, requestId: 'last' }))).toBe('requests');
    await limiter.close();
  });

  it('counts nothing for a call that a stalled server runs after its caller gave up', async () => {
    const client = connectRedis({ url: redis.url, name: 'test' });
    while (client.status !== 'ready') await sleep(5);
    const limiter = new RedisLimiter(client, { ...STANDARD_TIMES, forgetAfterMs: 100 });
    const limits = { user: { requestsPerMinute: 10, tokensPerMinute: 100 } };
    const request = admitRequest({ limits });
    await limiter.admit(admitRequest());
    redis.signal('SIGSTOP');
    const late = limiter.admit(request, () => false).catch(String);
    await sleep(500);
    redis.signal('SIGCONT');
    expect(await late).toContain('after its caller had gone');
    const next = await limiter.admit({ ...request, requestId: 'next' });
    expect(next.tightest.requests?.remaining).toBe(9);
    await limiter.close();
  });
});

describe.skipIf(skipped)(`RedisLimiter on a cluster of three${note}`, () => {
  let cluster: Awaited<ReturnType<typeof startTestRedisCluster>>;
  beforeAll(async () => {
    cluster = await startTestRedisCluster();
  });
  afterAll(() => cluster?.stop());

  limiterConformance({
    name: 'the port',
    start: async (times) => {
      const { limiter } = await connect(times, cluster);
      return { limiter, pass: (ms) => sleep(ms), stop: () => limiter.close() };
    },
  });
});
