import { type Limits, LIMITS_WIRE } from '@svc/contracts/ports';
import { overWire } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { admitRequest } from '../../test/admit-request.js';
import { limiterConformance } from '../../test/limiter.conformance.js';
import { MemoryLimiter, STANDARD_TIMES } from './memory-limiter.js';

describe.each<[string, (limiter: MemoryLimiter) => Limits]>([
  ['MemoryLimiter', (limiter) => limiter],
  ['MemoryLimiter behind JSON', (limiter) => overWire<Limits>(limiter, LIMITS_WIRE)],
])('%s', (_name, reached) => {
  limiterConformance({
    name: 'the port',
    start: (times) => {
      let passedMs = 0;
      const limiter = new MemoryLimiter({
        ...times,
        nowMs: () => 1_700_000_000_123 + passedMs,
        elapsedMs: () => 1_000 + passedMs,
      });
      return Promise.resolve({
        limiter: reached(limiter),
        pass: (ms) => {
          passedMs += ms;
          return Promise.resolve();
        },
        stop: () => Promise.resolve(),
      });
    },
  });
});

describe('a limiter with a local share', () => {
  const limits = { user: { requestsPerMinute: 10, tokensPerMinute: 100 } };

  it('gives out its share, and reports the whole limit', () => {
    const limiter = new MemoryLimiter({ share: 0.25, nowMs: () => 0 });
    const request = admitRequest({ limits, tokens: 1 });
    const admissions = [];
    for (let index = 0; index < 4; index += 1)
      admissions.push(limiter.admit({ ...request, requestId: `${index}` }));
    expect(admissions.map(({ admitted }) => admitted)).toEqual([true, true, false, false]);
    expect(admissions[0]).toMatchObject({
      tightest: { requests: { limit: 10, remaining: 1 }, tokens: { limit: 100 } },
    });
  });

  it('admits at least one request, even if it is larger than the share', () => {
    const limiter = new MemoryLimiter({ share: 0.01, nowMs: () => 0 });
    const request = admitRequest({ limits, tokens: 80, concurrent: 3 });
    expect(limiter.admit(request).admitted).toBe(true);
    expect(limiter.admit({ ...request, requestId: 'second' }).admitted).toBe(false);
    expect(limiter.admit(admitRequest({ limits, tokens: 101 })).admitted).toBe(false);
    const none = { user: { requestsPerMinute: 0, tokensPerMinute: 100 } };
    expect(limiter.admit(admitRequest({ limits: none })).admitted).toBe(false);
  });
});

describe('a clock that is set back', () => {
  it('does not open a window twice', () => {
    let nowMs = 60_000;
    const limiter = new MemoryLimiter({ nowMs: () => nowMs });
    const request = admitRequest({ limits: { user: { requestsPerMinute: 1, tokensPerMinute: 100 } } });
    expect(limiter.admit(request)).toMatchObject({ admitted: true, endsAtMs: [120_000] });
    nowMs = 59_000;
    expect(limiter.admit({ ...request, requestId: 'again' })).toMatchObject({
      admitted: false,
      endsAtMs: [120_000],
    });
  });

  it('lengthens neither a block nor a lease', async () => {
    let [nowMs, elapsedMs] = [10_000_000, 1];
    const limiter = new MemoryLimiter({ nowMs: () => nowMs, elapsedMs: () => elapsedMs });
    const request = admitRequest({ concurrent: 1 });
    limiter.admit(request);
    for (let time = 0; time < 21; time += 1) await limiter.failed('ip:1');
    nowMs -= 3_600_000;
    elapsedMs += STANDARD_TIMES.failureBlockMs;
    expect(await limiter.blocked('ip:1')).toEqual({});
    elapsedMs += STANDARD_TIMES.leaseMs;
    expect(limiter.admit({ ...request, requestId: 'next' }).admitted).toBe(true);
  });

  it('starts from the new time if it was set back far', () => {
    let nowMs = 10_000_000;
    const limiter = new MemoryLimiter({ nowMs: () => nowMs });
    limiter.admit(admitRequest());
    nowMs = 1_000;
    expect(limiter.admit(admitRequest()).endsAtMs).toEqual([60_000]);
  });
});
