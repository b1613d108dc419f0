import { expect, it } from 'vitest';
import { RecentCalls } from './recent-calls.js';

it('knows the times of first bytes within an eighth', () => {
  const recent = new RecentCalls();
  const nowMs = performance.now();
  for (let ms = 1; ms <= 1_000; ms += 1) recent.firstByteAfter(ms, nowMs);
  for (const share of [0.1, 0.5, 0.9, 0.99]) {
    const found = recent.firstByteMs(share) ?? 0;
    expect(Math.abs(found / (share * 1_000) - 1)).toBeLessThan(0.13);
  }
  expect(new RecentCalls().firstByteMs(0.5)).toBeUndefined();
});

it('forgets calls after one to two minutes', () => {
  const recent = new RecentCalls();
  const nowMs = performance.now();
  recent.failed('a', nowMs);
  recent.succeeded(nowMs);
  recent.turn(nowMs + 70_000);
  expect([recent.calls, recent.failedShare]).toEqual([2, 0.5]);
  recent.turn(nowMs + 140_000);
  expect([recent.calls, recent.failedShare]).toEqual([0, undefined]);
});

it('knows whether several accounts had failures', () => {
  const recent = new RecentCalls();
  const nowMs = performance.now();
  recent.failed('a', nowMs);
  recent.failed('a', nowMs);
  expect(recent.failedForSeveral).toBe(false);
  recent.failed('b', nowMs);
  expect(recent.failedForSeveral).toBe(true);
});
