import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { type LimiterSubject, admitRequest, limitsOf } from './admit-request.js';
import { inOneWindow, inTurn } from './in-one-window.js';

/** Contract of every adapter for windows of several lengths and for what they limit. */
export function windowSuite(started: () => LimiterSubject): void {
  let limiter: LimiterSubject['limiter'];
  beforeAll(() => {
    ({ limiter } = started());
  });

  const day = { scope: 'user', unit: 'tokens', windowMs: 86_400_000, max: 100 } as const;
  const minute = limitsOf({ user: { requestsPerMinute: 5, tokensPerMinute: 60 } });

  it('end with the minute', async () => {
    const { endsAtMs, tightest } = await limiter.admit(admitRequest());
    expect(endsAtMs.map((atMs) => atMs % 60_000)).toEqual([0]);
    expect(tightest.requests?.resetAtMs).toBe(endsAtMs[0]);
  });

  it('of several lengths count the same request, each until its own end', async () => {
    const [first, second, third] = await inOneWindow(() => {
      const one = admitRequest({ tokens: 50 });
      return inTurn(limiter, [
        { ...one, limits: [day, ...minute] },
        { ...one, requestId: randomUUID(), limits: [day], amounts: { requests: 1, tokens: 40 } },
        { ...one, requestId: randomUUID(), limits: [day], amounts: { requests: 1, tokens: 11 } },
      ]);
    });
    const [dayEnds = 0, minuteEnds = 0] = first?.endsAtMs ?? [];
    expect([first?.endsAtMs.length, minuteEnds % 60_000, dayEnds % day.windowMs]).toEqual([2, 0, 0]);
    expect(first?.tightest).toEqual({
      requests: { limit: 5, remaining: 4, resetAtMs: minuteEnds },
      tokens: { limit: 60, remaining: 10, resetAtMs: minuteEnds },
    });
    expect(second?.tightest).toEqual({ tokens: { limit: 100, remaining: 10, resetAtMs: dayEnds } });
    const refusedBy = { of: 'limit', limit: day, resetAtMs: dayEnds };
    expect(third).toMatchObject({ admitted: false, refusedBy, endsAtMs: [dayEnds] });
  });

  it('of several lengths are all corrected, and all released', async () => {
    const [, corrected, released] = await inOneWindow(async () => {
      const requests = minute.filter(({ unit }) => unit === 'requests');
      const first = { ...admitRequest({ tokens: 50 }), limits: [...minute, day] };
      const next = { ...first, requestId: randomUUID() };
      const last = { ...first, requestId: randomUUID(), limits: [...requests, day], amounts: {} };
      const admitted = await limiter.admit(first);
      await limiter.settle(first, admitted, { tokens: 10 });
      const second = await limiter.admit(next);
      await limiter.release(next, second);
      return [admitted, second, await limiter.admit(last)];
    });
    expect(corrected?.tightest.tokens).toMatchObject({ limit: 60, remaining: 0 });
    expect(released?.tightest.tokens).toMatchObject({ limit: 100, remaining: 90 });
  });

  it('are read by peek, which takes nothing', async () => {
    let taken: number[][] = [];
    let ends: number[] = [];
    const [admission] = await inOneWindow(async () => {
      const first = { ...admitRequest({ tokens: 50 }), limits: [...minute, day] };
      const { accountId, keyId, resource } = first;
      const ofKey = { ...day, scope: 'api_key' } as const;
      const limits = [...first.limits, ofKey].map((limit) => ({ resource, limit }));
      const peek = async (): Promise<number[]> => {
        const { limits: read = [] } = await limiter.peek({ accountId, keyId, limits });
        ends = read.map(({ resetAtMs }) => resetAtMs);
        return read.map((one) => one.taken);
      };
      taken = [await peek()];
      const admitted = await limiter.admit(first);
      taken.push(await peek(), await peek());
      await limiter.settle(first, admitted, { tokens: 7 });
      taken.push(await peek());
      return [admitted, await limiter.admit(admitRequest())];
    });
    const estimated = [1, 50, 50, 0];
    expect(taken).toEqual([[0, 0, 0, 0], estimated, estimated, [1, 7, 7, 0]]);
    expect([ends[0], ends[2]]).toEqual(admission?.endsAtMs);
    expect([ends[1], ends[3]]).toEqual(admission?.endsAtMs);
  });

  it('of a route and of a model with its name are separate, and no limit at all admits', async () => {
    const one = admitRequest({ model: '/same', limits: { user: { requestsPerMinute: 1 } } });
    const route = { ...one, requestId: randomUUID(), resource: { kind: 'route', name: '/same' } as const };
    const unlimited = { ...one, requestId: randomUUID(), limits: [] };
    const admissions = await inTurn(limiter, [one, route, unlimited]);
    expect(admissions.map(({ admitted }) => admitted)).toEqual([true, true, true]);
    expect(admissions[2]).toMatchObject({ tightest: {}, endsAtMs: [] });
  });

  it('of an end user is for all models, and apart from those of others and of other accounts', async () => {
    const accountId = randomUUID();
    const limits = { end_user: { requestsPerMinute: 1 } };
    const admissions = await inTurn(limiter, [
      admitRequest({ accountId, endUser: 'eu_a', limits, model: 'one' }),
      admitRequest({ accountId, endUser: 'eu_a', limits, model: 'two' }),
      admitRequest({ accountId, endUser: 'eu_b', limits, model: 'one' }),
      admitRequest({ endUser: 'eu_a', limits, model: 'one' }),
    ]);
    expect(admissions.map(({ admitted }) => admitted)).toEqual([true, false, true, true]);
  });
}
