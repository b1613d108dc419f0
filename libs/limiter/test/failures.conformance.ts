import { randomUUID } from 'node:crypto';
import { FAILURES_ALLOWED } from '@svc/contracts/ports';
import { beforeAll, expect, it } from 'vitest';
import { AMPLE, type GivenRequest, type LimiterSubject, admitRequest, refusedFor } from './admit-request.js';

/** Duration of a block in this suite. */
export const BLOCK_MS = 1_500;

/** Contract of every adapter for failures. */
export function failureSuite(started: () => LimiterSubject): void {
  let limiter: LimiterSubject['limiter'];
  beforeAll(() => {
    ({ limiter } = started());
  });
  const pass = (ms: number): Promise<void> => started().pass(ms);

  const fail = async (subject: string, times: number): Promise<number[]> => {
    const blocks: number[] = [];
    for (let time = 0; time < times; time += 1) blocks.push((await limiter.failed(subject)).forMs ?? 0);
    return blocks;
  };
  const refusalOf = async (given: GivenRequest) => refusedFor(await limiter.admit(admitRequest(given)));

  it('block a subject at the twenty-first, but no other, for the specified time, then start over', async () => {
    const [subject, other] = [`key:${randomUUID()}`, `ip:${randomUUID()}`];
    expect(await fail(subject, FAILURES_ALLOWED)).toEqual(Array(FAILURES_ALLOWED).fill(0));
    expect(await limiter.blocked(subject)).toEqual({});
    const [forMs] = await fail(subject, 1);
    expect(forMs).toBe(BLOCK_MS);
    await pass(BLOCK_MS / 10);
    // A failure during the block does not extend it.
    const [left = 0] = await fail(subject, 1);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(0.9 * BLOCK_MS);
    expect((await limiter.blocked(subject)).forMs).toBeLessThanOrEqual(left);
    expect(await limiter.blocked(other)).toEqual({});
    expect(await fail(other, 1)).toEqual([0]);
    await pass(BLOCK_MS);
    expect(await limiter.blocked(subject)).toEqual({});
    expect(await fail(subject, FAILURES_ALLOWED)).toEqual(Array(FAILURES_ALLOWED).fill(0));
  });

  it("refuse a blocked caller's request in the call that would admit it, and count nothing", async () => {
    const request = admitRequest({ limits: { user: { ...AMPLE, requestsPerMinute: 1 } }, concurrent: 1 });
    await fail(request.subject, FAILURES_ALLOWED + 1);
    const blocked = await limiter.admit(request);
    expect(blocked).toMatchObject({
      admitted: false,
      refusedBy: { of: 'failures' },
      scope: 'user',
    });
    expect(blocked.blockedForMs).toBeGreaterThan(0);
    expect(blocked.blockedForMs).toBeLessThanOrEqual(BLOCK_MS);
    expect(blocked.tightest.requests).toMatchObject({ limit: 1, remaining: 1 });
    // Another caller of the same account still has the whole limit.
    const other = await limiter.admit({
      ...request,
      requestId: randomUUID(),
      subject: `key:${randomUUID()}`,
    });
    expect(other.admitted).toBe(true);
    expect(other).not.toHaveProperty('blockedForMs');
  });

  it('refuse nothing up to the twentieth, nor after the block', async () => {
    const subject = `key:${randomUUID()}`;
    await fail(subject, FAILURES_ALLOWED);
    expect(await refusalOf({ subject })).toBeUndefined();
    await fail(subject, 1);
    expect(await refusalOf({ subject })).toBe('failures');
    await pass(BLOCK_MS);
    expect(await refusalOf({ subject })).toBeUndefined();
  });
}
