import { describe, expect, it } from 'vitest';
import { admitRequest, limiterConformance } from './limiter.conformance.js';
import { MemoryLimiter } from './memory-limiter.js';

limiterConformance({
  name: 'MemoryLimiter',
  start: (times) => {
    let nowMs = 1_700_000_000_123;
    return Promise.resolve({
      limiter: new MemoryLimiter({ ...times, nowMs: () => nowMs }),
      pass: (ms) => {
        nowMs += ms;
        return Promise.resolve();
      },
      stop: () => Promise.resolve(),
    });
  },
});

describe('a limiter with a share of each limit', () => {
  const limits = { user: { requestsPerMinute: 10, tokensPerMinute: 100 } };

  it('gives out that share, and tells the whole limit', async () => {
    const limiter = new MemoryLimiter({ share: 0.25, nowMs: () => 0 });
    const request = admitRequest({ limits, tokens: 1 });
    const admissions = [];
    for (let index = 0; index < 4; index += 1)
      admissions.push(await limiter.admit({ ...request, requestId: `${index}` }));
    expect(admissions.map(({ admitted }) => admitted)).toEqual([true, true, false, false]);
    expect(admissions[0]).toMatchObject({ requests: { limit: 10, remaining: 1 }, tokens: { limit: 100 } });
  });

  it('gives one request at least, even one that is larger than the share', async () => {
    const limiter = new MemoryLimiter({ share: 0.01, nowMs: () => 0 });
    const request = admitRequest({ limits, tokens: 80, concurrent: 3 });
    expect((await limiter.admit(request)).admitted).toBe(true);
    expect((await limiter.admit({ ...request, requestId: 'second' })).admitted).toBe(false);
    expect((await limiter.admit(admitRequest({ limits, tokens: 101 }))).admitted).toBe(false);
    const none = { user: { requestsPerMinute: 0, tokensPerMinute: 100 } };
    expect((await limiter.admit(admitRequest({ limits: none }))).admitted).toBe(false);
  });
});

describe('a clock that is set back', () => {
  it('does not open a window twice', async () => {
    let nowMs = 60_000;
    const limiter = new MemoryLimiter({ nowMs: () => nowMs });
    const request = admitRequest({ limits: { user: { requestsPerMinute: 1, tokensPerMinute: 100 } } });
    expect(await limiter.admit(request)).toMatchObject({ admitted: true, resetAtMs: 120_000 });
    nowMs = 59_000;
    expect(await limiter.admit({ ...request, requestId: 'again' })).toMatchObject({
      admitted: false,
      resetAtMs: 120_000,
    });
  });

  it('by a lot begins with the clock', async () => {
    let nowMs = 10_000_000;
    const limiter = new MemoryLimiter({ nowMs: () => nowMs });
    await limiter.admit(admitRequest());
    nowMs = 1_000;
    expect((await limiter.admit(admitRequest())).resetAtMs).toBe(60_000);
  });
});
