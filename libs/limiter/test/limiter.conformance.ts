import { randomUUID } from 'node:crypto';
import { type AdmitRequest, FAILURES_ALLOWED } from '@svc/contracts/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AMPLE,
  type GivenRequest,
  type LimiterSubject,
  admitRequest,
  limitsOf,
  admitAll,
  refusedFor,
} from './admit-request.js';
import { BLOCK_MS, failureSuite } from './failures.conformance.js';
import { endOf, inOneWindow, inTurn, scopeOfRefusal } from './in-one-window.js';
import type { LimiterTimes } from '../src/counting/memory-limiter.js';
import { provisionalSuite } from './provisional.conformance.js';
import { windowSuite } from './windows.conformance.js';

export interface ConformanceOptions {
  readonly name: string;
  /** Starts a limiter with these times, and the standard ones for the rest. */
  readonly start: (times: Partial<LimiterTimes>) => Promise<LimiterSubject>;
}

/** Contract of every adapter of the port `Limiter`. */
export function limiterConformance({ name, start }: ConformanceOptions): void {
  describe(`${name}`, () => {
    standardSuite(start);
    quickSuite(start);
  });
}

function standardSuite(start: ConformanceOptions['start']): void {
  let started: LimiterSubject;
  let limiter: LimiterSubject['limiter'];
  beforeAll(async () => {
    started = await start({ failureBlockMs: BLOCK_MS });
    ({ limiter } = started);
  });
  afterAll(() => started?.stop());

  /** Several requests of the same account, key and model. */
  const likes = (count: number, given: GivenRequest): AdmitRequest[] => {
    const first = admitRequest(given);
    return Array.from({ length: count }, () => ({ ...first, requestId: randomUUID() }));
  };

  describe('windows', () => {
    it('admit exactly N of 1,000 parallel requests', async () => {
      const admissions = await inOneWindow(() =>
        admitAll(limiter, likes(1_000, { limits: { user: { ...AMPLE, requestsPerMinute: 75 } } })),
      );
      expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(75);
      expect(admissions.filter((one) => refusedFor(one) === 'requests')).toHaveLength(925);
    });

    it('admit exactly as many tokens as fit, under parallel requests', async () => {
      const admissions = await inOneWindow(() =>
        admitAll(limiter, likes(200, { limits: { user: { ...AMPLE, tokensPerMinute: 1_005 } }, tokens: 10 })),
      );
      expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(100);
      expect(admissions.find(({ admitted }) => !admitted)).toMatchObject({
        refusedBy: { of: 'limit', limit: { scope: 'user', unit: 'tokens', max: 1_005 } },
        tightest: { tokens: { limit: 1_005, remaining: 5 } },
      });
    });

    it('report what is left just after a request, down to zero', async () => {
      const limits = { user: { requestsPerMinute: 2, tokensPerMinute: 100 } };
      const [first, second, third] = await inOneWindow(() =>
        inTurn(limiter, likes(3, { limits, tokens: 30 })),
      );
      expect(first?.tightest).toMatchObject({
        requests: { limit: 2, remaining: 1 },
        tokens: { limit: 100, remaining: 70 },
      });
      const left = { requests: { remaining: 0 }, tokens: { remaining: 40 } };
      expect(second?.tightest).toMatchObject(left);
      expect(third).toMatchObject({ admitted: false, tightest: left });
      expect(first).not.toHaveProperty('refusedBy');
    });

    it('never admit a request that cannot fit, nor any if the limit is zero', async () => {
      const refused = await inOneWindow(() =>
        admitAll(limiter, [
          admitRequest({ limits: { user: { ...AMPLE, tokensPerMinute: 99 } }, tokens: 100 }),
          admitRequest({ limits: { user: { ...AMPLE, requestsPerMinute: 0 } } }),
        ]),
      );
      expect(refused.map(refusedFor)).toEqual(['tokens', 'requests']);
    });

    it('are separate for accounts, models and keys, and common to all for a global limit', async () => {
      const one = { requestsPerMinute: 1 };
      const user = { ...AMPLE, requestsPerMinute: 2 };
      const all = await inOneWindow(() => {
        const [model, accountId] = [randomUUID(), randomUUID()];
        const limits = { user, api_key: one };
        return inTurn(limiter, [
          admitRequest({ accountId, model, keyId: 'a', limits }),
          admitRequest({ accountId, model, keyId: 'a', limits }),
          admitRequest({ accountId, model, keyId: 'b', limits }),
          admitRequest({ accountId, model: 'other', keyId: 'a', limits }),
          admitRequest({ model, limits }),
          admitRequest({ accountId, model, keyId: 'c', limits }),
        ]);
      });
      expect(all.map(scopeOfRefusal)).toEqual([
        undefined,
        'api_key',
        undefined,
        undefined,
        undefined,
        'user',
      ]);
      const global = await inOneWindow(() => {
        const model = randomUUID();
        const limits = { user: AMPLE, global: { requestsPerMinute: 2 } };
        return inTurn(
          limiter,
          [1, 2, 3].map(() => admitRequest({ model, limits })),
        );
      });
      expect(global.map(scopeOfRefusal)).toEqual([undefined, undefined, 'global']);
    });

    it('count a request in all of them or in none', async () => {
      const [, refusedByGlobal, refusedByKey, after] = await inOneWindow(() => {
        const model = randomUUID();
        const user = { requestsPerMinute: 3, tokensPerMinute: 100 };
        const accountId = randomUUID();
        const mine = { accountId, model, limits: { user }, tokens: 10 };
        return inTurn(limiter, [
          admitRequest({ model, limits: { user, global: { tokensPerMinute: 100 } }, tokens: 95 }),
          admitRequest({
            ...mine,
            limits: { user, api_key: { requestsPerMinute: 1 }, global: { tokensPerMinute: 100 } },
          }),
          admitRequest({ ...mine, limits: { user, api_key: { tokensPerMinute: 9 } } }),
          admitRequest({ ...mine, limits: { user, api_key: { requestsPerMinute: 1 } } }),
        ]);
      });
      expect(refusedByGlobal).toMatchObject({
        admitted: false,
        refusedBy: { limit: { scope: 'global', unit: 'tokens' } },
      });
      expect(refusedByKey).toMatchObject({
        admitted: false,
        refusedBy: { limit: { scope: 'api_key', unit: 'tokens' } },
      });
      expect(after).toMatchObject({
        admitted: true,
        tightest: { requests: { limit: 1, remaining: 0 }, tokens: { remaining: 90 } },
      });
    });

    it('report the smallest remainder, and the type of the limit closest to being reached', async () => {
      const [admission] = await inOneWindow(() =>
        inTurn(limiter, [
          admitRequest({
            model: randomUUID(),
            limits: {
              user: { requestsPerMinute: 100, tokensPerMinute: 1_000 },
              api_key: { requestsPerMinute: 50 },
              global: { requestsPerMinute: 10_000, tokensPerMinute: 900 },
            },
            tokens: 500,
          }),
        ]),
      );
      expect(admission).toMatchObject({
        tightest: { requests: { limit: 50, remaining: 49 }, tokens: { limit: 900, remaining: 400 } },
        scope: 'global',
      });
    });
  });

  describe('settling', () => {
    const limits = { user: { requestsPerMinute: 100, tokensPerMinute: 1_000 } };
    const least = { ...limits, api_key: { tokensPerMinute: 900 } };

    it('returns unused tokens and takes those beyond the estimate, once', async () => {
      const admissions = await inOneWindow(async () => {
        const [first, second, third] = likes(3, { limits: least, tokens: 100 });
        if (!first || !second || !third) throw new Error('there are three');
        const admitted = await limiter.admit(first);
        await limiter.settle(first, admitted, { tokens: 10 });
        await limiter.settle(first, admitted, { tokens: 10 });
        const less = await limiter.admit(second);
        await limiter.settle(second, less, { tokens: 350 });
        await limiter.release(second, less);
        return [less, await limiter.admit(third)];
      });
      expect(
        admissions.map(({ tightest: { tokens, requests } }) => [tokens?.remaining, requests?.remaining]),
      ).toEqual([
        [790, 98],
        [440, 97],
      ]);
    });

    it('counts tokens beyond the limit, and refuses until the window ends', async () => {
      const [, next] = await inOneWindow(async () => {
        const [first, second] = likes(2, { limits, tokens: 1 });
        if (!first || !second) throw new Error('there are two');
        const admitted = await limiter.admit(first);
        await limiter.settle(first, admitted, { tokens: 5_000 });
        return [admitted, await limiter.admit(second)];
      });
      expect(next).toMatchObject({
        admitted: false,
        tightest: { tokens: { limit: 1_000, remaining: 0 } },
      });
    });

    it('leaves nothing behind for a released request, however often it is released', async () => {
      const [, after] = await inOneWindow(async () => {
        const [first, second] = likes(2, { limits: least, tokens: 100 });
        if (!first || !second) throw new Error('there are two');
        const admitted = await limiter.admit(first);
        await limiter.release(first, admitted);
        await limiter.release(first, admitted);
        await limiter.settle(first, admitted, { tokens: 100 });
        return [admitted, await limiter.admit(second)];
      });
      expect(after?.tightest).toMatchObject({
        requests: { remaining: 99 },
        tokens: { limit: 900, remaining: 800 },
      });
    });
  });

  describe('concurrent requests', () => {
    it("are at most as many as the account's limit, and each that ends makes room for one", async () => {
      const requests = likes(20, { concurrent: 5 });
      const admissions = await admitAll(limiter, requests);
      const inside = requests.filter((_, index) => admissions[index]?.admitted);
      expect(inside).toHaveLength(5);
      const refused = admissions.find(({ admitted }) => !admitted);
      expect(refused).toMatchObject({ refusedBy: { of: 'concurrent' }, scope: 'user' });
      const [first, second] = inside;
      if (!first || !second || !admissions[0]) throw new Error('there are five');
      // Repeated calls make room only once.
      await limiter.settle(first, admissions[0], { tokens: 1 });
      await limiter.settle(first, admissions[0], { tokens: 1 });
      await limiter.release(second, admissions[0]);
      await limiter.release(second, admissions[0]);
      const again = await admitAll(limiter, likes(20, { accountId: first.accountId, concurrent: 5 }));
      expect(again.filter(({ admitted }) => admitted)).toHaveLength(2);
    });

    it('are counted over all models and keys, and separately for each account', async () => {
      const accountId = randomUUID();
      const admissions = await inTurn(limiter, [
        admitRequest({ accountId, model: 'a', keyId: 'a', concurrent: 1 }),
        admitRequest({ accountId, model: 'b', keyId: 'b', concurrent: 1 }),
        admitRequest({ concurrent: 1 }),
      ]);
      expect(admissions.map(({ admitted }) => admitted)).toEqual([true, false, true]);
    });
  });

  describe('booking', () => {
    it('counts a request admitted elsewhere once, even if the limit is reached or its caller is blocked', async () => {
      const admissions = await inOneWindow(async () => {
        const limits = { user: { requestsPerMinute: 1, tokensPerMinute: 10 } };
        const [first, booked, next] = likes(3, { limits, tokens: 6, concurrent: 1 });
        if (!first || !booked || !next) throw new Error('there are three');
        const admitted = await limiter.admit(first);
        for (let time = 0; time <= FAILURES_ALLOWED; time += 1) await limiter.failed(booked.subject);
        const booking = { ...booked, bookedEndsAtMs: admitted.endsAtMs };
        const counted = await limiter.admit(booking);
        const again = await limiter.admit(booking);
        await limiter.release(first, admitted);
        await limiter.settle(booked, counted, { tokens: 1 });
        const ample = limitsOf({ user: { requestsPerMinute: 10, tokensPerMinute: 10 } });
        return [admitted, counted, again, await limiter.admit({ ...next, limits: ample, subject: 'ip:9' })];
      });
      expect(admissions.map(({ admitted }) => admitted)).toEqual([true, true, true, true]);
      expect(admissions[3]?.tightest).toMatchObject({ requests: { remaining: 8 }, tokens: { remaining: 3 } });
    });

    it('counts nothing once the window is over, but keeps the place of the request', async () => {
      const [refused, next] = await inOneWindow(async () => {
        const [first, second, third] = likes(3, { tokens: 5, concurrent: 1 });
        if (!first || !second || !third) throw new Error('there are three');
        const before = endOf(await limiter.admit(admitRequest())) - 60_000;
        const admitted = await limiter.admit({ ...first, bookedEndsAtMs: [before] });
        expect(admitted.tightest.requests?.remaining).toBe(AMPLE.requestsPerMinute);
        const full = await limiter.admit(second);
        await limiter.settle(first, admitted, { tokens: 0 });
        return [full, await limiter.admit(third)];
      });
      expect(refused?.refusedBy?.of).toBe('concurrent');
      expect(next?.tightest).toMatchObject({
        requests: { remaining: AMPLE.requestsPerMinute - 1 },
        tokens: { remaining: AMPLE.tokensPerMinute - 5 },
      });
    });
  });

  describe('windows of all kinds', () => {
    windowSuite(() => started);
  });

  describe('provisional refusals', () => {
    provisionalSuite(() => started);
  });

  describe('failures', () => {
    failureSuite(() => started);
  });
}

const QUICK = { leaseMs: 1_500, failureWindowMs: 1_000 };
const QUICK_WINDOW_MS = 500;

function quickSuite(start: ConformanceOptions['start']): void {
  let subject: LimiterSubject;
  let limiter: LimiterSubject['limiter'];
  beforeAll(async () => {
    subject = await start(QUICK);
    ({ limiter } = subject);
  });
  afterAll(() => subject?.stop());

  it('no window admits more than N around its edges, and each admits N', async () => {
    const first = admitRequest({
      limits: { user: { ...AMPLE, requestsPerMinute: 7 } },
      windowMs: QUICK_WINDOW_MS,
    });
    const windows = new Map<number, { requests: number; admitted: number }>();
    while (windows.size < 4) {
      const batch = Array.from({ length: 5 }, () => ({ ...first, requestId: randomUUID() }));
      for (const admission of await admitAll(limiter, batch)) {
        const window = windows.get(endOf(admission)) ?? { requests: 0, admitted: 0 };
        windows.set(endOf(admission), window);
        window.requests += 1;
        if (admission.admitted) window.admitted += 1;
      }
      await subject.pass(5);
    }
    for (const { requests, admitted } of windows.values()) expect(admitted).toBe(Math.min(7, requests));
    const ends = [...windows.keys()];
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    for (const end of ends) expect(end % QUICK_WINDOW_MS).toBe(0);
  });

  it('a window that has ended is not corrected, nor is the next', async () => {
    const limits = { user: { ...AMPLE, tokensPerMinute: 100 } };
    const first = admitRequest({ limits, windowMs: QUICK_WINDOW_MS, tokens: 60 });
    const old = await limiter.admit(first);
    const second = { ...first, requestId: randomUUID(), amounts: { requests: 1, tokens: 50 } };
    let next = await limiter.admit(second);
    while (endOf(next) === endOf(old)) {
      await subject.pass(20);
      next = await limiter.admit(second);
    }
    await limiter.settle(first, old, { tokens: 0 });
    const third = await limiter.admit({ ...second, requestId: randomUUID() });
    // If another window has begun meanwhile, there is nothing to check.
    const left = endOf(third) === endOf(next) ? third.tightest.tokens?.remaining : 0;
    expect(left).toBe(0);
  });

  it('a request of a dead process loses its place after its lease', async () => {
    const dead = admitRequest({ concurrent: 1 });
    const next = { ...dead, requestId: randomUUID() };
    expect((await limiter.admit(dead)).admitted).toBe(true);
    await subject.pass(QUICK.leaseMs + 1);
    // A late renewal does not restore it.
    await limiter.renew([dead]);
    expect((await limiter.admit(next)).admitted).toBe(true);
  });

  it('a renewed request keeps its place for longer than a lease', async () => {
    const live = admitRequest({ concurrent: 1 });
    await limiter.admit(live);
    let isInTime = true;
    for (let waitedMs = 0; waitedMs < 2 * QUICK.leaseMs; waitedMs += 250) {
      const startMs = performance.now();
      await subject.pass(250);
      await limiter.renew([live]);
      // If the machine stalled, the lease rightly lapsed.
      if (performance.now() - startMs >= QUICK.leaseMs) isInTime = false;
    }
    const next = await limiter.admit({ ...live, requestId: randomUUID() });
    expect(next.admitted).toBe(!isInTime);
  });

  it('failures count only within the sliding window', async () => {
    const subjectName = `key:${randomUUID()}`;
    for (let time = 0; time < FAILURES_ALLOWED; time += 1) await limiter.failed(subjectName);
    await subject.pass(QUICK.failureWindowMs + 1);
    expect(await limiter.failed(subjectName)).toEqual({});
    expect(await limiter.blocked(subjectName)).toEqual({});
  });
}
