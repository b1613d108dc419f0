import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LagWatch, type Positions } from './lag-watch.js';

function watched(first: readonly [end: bigint, handled: bigint]) {
  let positions: () => Promise<Positions>;
  const at = (end: bigint, handled: bigint): void => {
    positions = () => Promise.resolve({ ends: new Map([[0, end]]), handled: new Map([[0, handled]]) });
  };
  at(...first);
  const read: { sinceMs: number | undefined } = { sinceMs: undefined };
  const watch = new LagWatch({
    topic: 't',
    group: 'g',
    get unhandledSinceMs() {
      return read.sinceMs;
    },
    positions: () => positions(),
  });
  return {
    watch,
    at,
    /** This process reads an event that was stored that long ago, or has handled it. */
    reads: (ageMs: number | undefined) => {
      read.sinceMs = ageMs === undefined ? undefined : Date.now() - ageMs;
    },
    away: () => {
      positions = () => Promise.reject(new Error('away'));
    },
  };
}

describe('the age of the oldest waiting event', () => {
  it('is 0 if all events are handled', async () => {
    const { watch } = watched([5n, 5n]);
    await watch.look();
    expect(watch.oldestMs).toBe(0);
  });

  it('grows while a group makes no progress, even if more events arrive', async () => {
    const { watch, at } = watched([5n, 4n]);
    await watch.look();
    await sleep(30);
    at(9n, 4n);
    await watch.look();
    expect(watch.oldestMs).toBeGreaterThanOrEqual(29);
  });

  it('is that of the oldest event left, and 0 once all are handled', async () => {
    const { watch, at } = watched([5n, 4n]);
    await watch.look();
    await sleep(30);
    at(9n, 5n);
    await watch.look();
    expect(watch.oldestMs).toBeLessThan(29);
    at(9n, 9n);
    await watch.look();
    expect(watch.oldestMs).toBe(0);
  });

  it('keeps growing while the log cannot be read', async () => {
    const { watch, away } = watched([5n, 4n]);
    await watch.look();
    away();
    await sleep(30);
    await watch.look();
    expect(watch.oldestMs).toBeGreaterThanOrEqual(29);
  });

  it('is not the time since a position was read, at which an event happened to be under way', async () => {
    const { watch, at } = watched([5n, 4n]);
    await watch.look();
    at(5n, 5n);
    await sleep(30);
    expect(watch.oldestMs).toBe(0);
  });

  it('is the exact age of an event that this process has read, until it is handled', async () => {
    const { watch, at, reads } = watched([5n, 5n]);
    reads(40_000);
    expect(watch.oldestMs).toBeGreaterThanOrEqual(40_000);
    expect(watch.oldestMs).toBeLessThan(50_000);
    reads(undefined);
    expect(watch.oldestMs).toBe(0);
    at(6n, 5n);
    await watch.look();
    reads(40_000);
    expect(watch.oldestMs).toBeGreaterThanOrEqual(40_000);
  });

  it('is never longer ago than a moment whose events are all handled, by whichever process', async () => {
    const { watch, reads } = watched([5n, 5n]);
    await watch.look();
    reads(3_600_000);
    expect(watch.oldestMs).toBeLessThan(3_000_000);
  });

  it('is not negative if the clock of the log is ahead', () => {
    const { watch, reads } = watched([5n, 5n]);
    reads(-60_000);
    expect(watch.oldestMs).toBe(0);
  });
});
