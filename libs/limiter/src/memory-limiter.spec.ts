import { describe, expect, it } from 'vitest';
import type { AdmitRequest } from '@svc/contracts';
import { MemoryLimiter } from './memory-limiter.js';

const request = (tokens: number, accountId = 'a'): AdmitRequest => ({
  requestId: 'r',
  accountId,
  model: 'm',
  limits: { requestsPerMinute: 3, tokensPerMinute: 100 },
  tokens,
});

describe('MemoryLimiter', () => {
  it('admits exactly N requests in a window and N again in the next', async () => {
    let now = 0;
    const limiter = new MemoryLimiter(() => now);
    const admit = async () => (await limiter.admit(request(1))).admitted;
    expect([await admit(), await admit(), await admit(), await admit()]).toEqual([true, true, true, false]);
    now = 60_000;
    expect(await admit()).toBe(true);
  });

  it('takes nothing from any window when one of them refuses', async () => {
    const limiter = new MemoryLimiter(() => 0);
    expect((await limiter.admit(request(101))).admitted).toBe(false);
    const admission = await limiter.admit(request(100));
    expect(admission).toMatchObject({ admitted: true, requests: { remaining: 2 }, tokens: { remaining: 0 } });
  });

  it('gives back what an answer did not use, and takes what it used beyond its estimate', async () => {
    const limiter = new MemoryLimiter(() => 0);
    const admission = await limiter.admit(request(90));
    await limiter.settle(request(90), admission, 10);
    expect((await limiter.admit(request(85))).tokens.remaining).toBe(5);
  });

  it('gives a request back whole when something else refused it', async () => {
    const limiter = new MemoryLimiter(() => 0);
    await limiter.release(request(90), await limiter.admit(request(90)));
    expect(await limiter.admit(request(10))).toMatchObject({
      requests: { remaining: 2 },
      tokens: { remaining: 90 },
    });
  });

  it('does not correct a window that has ended', async () => {
    let now = 0;
    const limiter = new MemoryLimiter(() => now);
    const old = await limiter.admit(request(50));
    now = 60_000;
    await limiter.admit(request(60));
    await limiter.settle(request(50), old, 0);
    expect((await limiter.admit(request(40))).tokens.remaining).toBe(0);
  });

  it('counts accounts apart', async () => {
    const limiter = new MemoryLimiter(() => 0);
    await limiter.admit(request(100));
    expect((await limiter.admit(request(100, 'b'))).admitted).toBe(true);
  });
});
