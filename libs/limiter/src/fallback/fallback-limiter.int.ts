import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission, AdmitRequest } from '@svc/contracts/ports';
import { connectRedis } from '@svc/storage';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FallbackLimiter } from './fallback-limiter.js';
import { admitRequest } from '../../test/admit-request.js';
import { STANDARD_TIMES } from '../counting/memory-limiter.js';
import { RedisLimiter } from '../counting/redis-limiter.js';

/** Long enough for a response on a busy machine. */
const WAIT_MS = 300;
const LIMITS = { user: { requestsPerMinute: 40, tokensPerMinute: 1_000_000 } };

let redis: TestRedis;
let limiter: FallbackLimiter;
let warnings: string[];

/** Windows so long that none ends during a test. */
const WINDOW_MS = 1_000_000_000;

const TIMES = { ...STANDARD_TIMES, failureBlockMs: 5_000 };

function startLimiter(waitMs = WAIT_MS, forgetAfterMs = 2 * waitMs): FallbackLimiter {
  const shared = new RedisLimiter(connectRedis({ url: redis.url, name: 'test' }), {
    ...TIMES,
    forgetAfterMs,
  });
  const options = { to: 'Redis', waitMs, leaseMs: 60_000, local: { ...TIMES, share: 0.25 } };
  return new FallbackLimiter(shared, options, { warn: (_fields, message) => void warnings.push(message) });
}

/** The number admitted of `count` further requests like this one. */
async function admitted(request: AdmitRequest, count: number, by = limiter): Promise<number> {
  const all = Array.from({ length: count }, () => by.admit({ ...request, requestId: randomUUID() }));
  return (await Promise.all(all)).filter((admission) => admission.admitted).length;
}

async function until(mode: 'shared' | 'local'): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (limiter.state().mode !== mode) {
    if (Date.now() > deadline) throw new Error(`not ${mode}: ${JSON.stringify(limiter.state())}`);
    await sleep(10);
  }
}

/**
 * What the shared count has left for such a request, once that equals the expected number or after 500 tries.
 */
async function leftOf(by: FallbackLimiter, request: AdmitRequest, expected: number): Promise<number> {
  let left = 0;
  for (let index = 0; left !== expected && index < 500; index += 1) {
    const next = { ...request, requestId: randomUUID() };
    const admission = await by.admit(next);
    if (admission.countedBy === undefined) left = admission.tightest.requests?.remaining ?? 0;
    await by.release(next, admission);
    await sleep(10);
  }
  return left;
}

const tokensLeft = ({ tightest }: Admission): number => tightest.tokens?.remaining ?? 0;

/** Sends calls until the limiter has given up on Redis. */
async function loseRedis(signal: 'SIGSTOP' | 'SIGKILL'): Promise<void> {
  redis.signal(signal);
  while (limiter.state().mode === 'shared')
    await Promise.all(Array.from({ length: 10 }, () => limiter.blocked('ip:1')));
}

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`FallbackLimiter on Redis${note}`, () => {
  beforeEach(async () => {
    warnings = [];
    redis = await startTestRedis();
    limiter = startLimiter();
    await limiter.onModuleInit();
  });
  afterEach(async () => {
    await limiter?.onModuleDestroy();
    await redis?.stop();
  });

  it('shares the count while Redis responds', async () => {
    const two = [startLimiter(30_000), startLimiter(30_000)];
    await Promise.all(two.map((one) => one.onModuleInit()));
    const request = admitRequest({ windowMs: WINDOW_MS, limits: LIMITS });
    const counts = await Promise.all(two.map((one) => admitted(request, 30, one)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
    for (const one of two) {
      expect(one.state()).toMatchObject({ mode: 'shared', localAdmits: 0, faults: 0, waiting: 0 });
      await one.onModuleDestroy();
    }
  });

  it.each(['SIGSTOP', 'SIGKILL'] as const)(
    'after %s of Redis admits its share without waiting, reports that, and books it in the shared count afterwards',
    async (signal) => {
      const request = admitRequest({ windowMs: WINDOW_MS, limits: LIMITS });
      expect(await admitted(request, 5)).toBe(5);
      redis.signal(signal);
      expect(await admitted(request, 300)).toBe(10);
      await until('local');
      expect(limiter.state()).toMatchObject({ localAdmits: 10, localRefusals: 290 });
      expect(limiter.state().reason).toMatch(/no response|closed|writeable|ECONN|retries/);
      // Only one probe at a time is sent from here on, so nothing piles up.
      const { faults, waiting } = limiter.state();
      expect(await admitted(request, 1_000)).toBe(0);
      await sleep(600);
      expect(limiter.state()).toMatchObject({ faults, localAdmits: 10 });
      expect(limiter.state().waiting).toBeLessThanOrEqual(waiting);

      if (signal === 'SIGSTOP') redis.signal('SIGCONT');
      else await redis.restart();
      await until('shared');
      expect(warnings).toEqual([
        'limits are counted locally: the shared count is unavailable',
        'limits are shared again',
      ]);
      expect(limiter.state().waiting).toBe(0);
      // A stopped Redis has kept its 5; the 10 admitted locally are booked in either case.
      expect(await admitted(request, 100)).toBe(signal === 'SIGSTOP' ? 25 : 30);
    },
  );

  it('reads what is taken only from the shared count, and not while that is lost', async () => {
    const request = admitRequest({ windowMs: WINDOW_MS, limits: LIMITS });
    expect(await admitted(request, 5)).toBe(5);
    const { accountId, keyId, resource, limits } = request;
    const read = () =>
      limiter.peek({ accountId, keyId, limits: limits.map((limit) => ({ resource, limit })) });
    expect((await read()).limits?.map(({ taken }) => taken)).toEqual([5, 5]);
    await loseRedis('SIGSTOP');
    expect(await admitted(request, 3)).toBe(3);
    expect(await read()).toEqual({});
    redis.signal('SIGCONT');
    await until('shared');
    expect((await read()).limits?.map(({ taken }) => taken)).toEqual([8, 8]);
  });

  it('no call during an outage waits longer than the bound, and later calls do not wait', async () => {
    redis.signal('SIGSTOP');
    const startMs = performance.now();
    await Promise.all(Array.from({ length: 200 }, () => limiter.admit(admitRequest())));
    expect(limiter.state().mode).toBe('local');
    const { faults } = limiter.state();
    for (let index = 0; index < 200; index += 1) await limiter.admit(admitRequest());
    // If each of these had waited, there would be a fault for each.
    expect(limiter.state().faults).toBe(faults);
    expect(faults).toBeLessThanOrEqual(200);
    expect(performance.now() - startMs).toBeLessThan(200 * WAIT_MS);
    redis.signal('SIGCONT');
  });

  it('corrects in the shared count what it had admitted alone', async () => {
    const request = admitRequest({ windowMs: WINDOW_MS, limits: LIMITS, tokens: 10, concurrent: 4 });
    await loseRedis('SIGSTOP');
    const alone = await limiter.admit(request);
    expect(alone.countedBy).toBeTypeOf('string');
    expect((await limiter.admit({ ...request, requestId: 'second' })).refusedBy?.of).toBe('concurrent');
    redis.signal('SIGCONT');
    await until('shared');
    const before = await limiter.admit({ ...request, requestId: 'third' });
    expect(before).not.toHaveProperty('countedBy');
    await limiter.settle(request, alone, { tokens: 500 });
    const after = await limiter.admit({ ...request, requestId: 'fourth' });
    expect(tokensLeft(before) - tokensLeft(after)).toBe(490 + 10);
    // This one was counted by another process, so it does not affect the counts here.
    await limiter.release({ ...request, requestId: 'fourth' }, { ...after, countedBy: randomUUID() });
    expect((await limiter.admit({ ...request, requestId: 'fifth' })).tightest.requests?.remaining).toBe(36);
  });

  it('returns what it admitted alone and released before it could be booked', async () => {
    const request = admitRequest({ windowMs: WINDOW_MS, limits: LIMITS, concurrent: 4 });
    await loseRedis('SIGSTOP');
    await limiter.release(request, await limiter.admit(request));
    redis.signal('SIGCONT');
    await until('shared');
    expect(await leftOf(limiter, request, 39)).toBe(39);
  });

  it('counts a request once that Redis admits late and it admitted meanwhile, and returns refused ones', async () => {
    const patient = startLimiter(WAIT_MS, 60_000);
    await patient.onModuleInit();
    const request = admitRequest({ windowMs: WINDOW_MS, limits: LIMITS });
    await patient.admit(admitRequest());
    redis.signal('SIGSTOP');
    expect(await admitted(request, 15, patient)).toBe(10);
    redis.signal('SIGCONT');
    // Of 40, less the 10 admitted and the one asking now.
    expect(await leftOf(patient, request, 29)).toBe(29);
    await patient.onModuleDestroy();
  });

  it('sends the corrections that Redis missed once it is back', async () => {
    const requests = Array.from({ length: 3 }, (_, index) => `${index}`);
    const request = admitRequest({ windowMs: WINDOW_MS, limits: LIMITS, tokens: 100, concurrent: 3 });
    const admissions = await Promise.all(
      requests.map((requestId) => limiter.admit({ ...request, requestId })),
    );
    await loseRedis('SIGSTOP');
    await Promise.all(
      requests.map((requestId, index) => {
        const admission = admissions[index];
        if (!admission) throw new Error('there is one for each');
        return limiter.settle({ ...request, requestId }, admission, { tokens: 1 });
      }),
    );
    redis.signal('SIGCONT');
    await until('shared');
    // Three places and 297 tokens are returned.
    let last = await limiter.admit({ ...request, requestId: 'probe-0' });
    for (let index = 1; tokensLeft(last) !== 1_000_000 - 103 && index < 500; index += 1) {
      if (last.admitted) await limiter.release({ ...request, requestId: `probe-${index - 1}` }, last);
      await sleep(10);
      last = await limiter.admit({ ...request, requestId: `probe-${index}` });
    }
    expect(last).toMatchObject({ admitted: true, tightest: { tokens: { remaining: 1_000_000 - 103 } } });
  });

  it('failures also block while Redis is down', async () => {
    await loseRedis('SIGKILL');
    for (let time = 0; time < 20; time += 1) expect(await limiter.failed('ip:2')).toEqual({});
    const { forMs } = await limiter.failed('ip:2');
    expect(forMs).toBeGreaterThan(0);
    expect((await limiter.blocked('ip:2')).forMs).toBeGreaterThan(0);
    expect((await limiter.admit(admitRequest({ subject: 'ip:2' }))).refusedBy?.of).toBe('failures');
    expect(await limiter.blocked('ip:3')).toEqual({});
  });

  it('starts without Redis, and uses it once it is up', async () => {
    redis.signal('SIGKILL');
    const late = startLimiter();
    await late.onModuleInit();
    expect(late.state()).toMatchObject({ mode: 'local' });
    expect((await late.admit(admitRequest())).admitted).toBe(true);
    await redis.restart();
    while (late.state().mode === 'local') await sleep(10);
    expect(await late.admit(admitRequest())).not.toHaveProperty('countedBy');
    await late.onModuleDestroy();
  });
});
