import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LagWatch, type Positions } from './lag-watch.js';

function watched(first: readonly [end: bigint, handled: bigint]) {
  let positions: () => Promise<Positions>;
  const at = (end: bigint, handled: bigint): void => {
    positions = () => Promise.resolve({ ends: new Map([[0, end]]), handled: new Map([[0, handled]]) });
  };
  at(...first);
  const watch = new LagWatch({ topic: 't', group: 'g', positions: () => positions() });
  return {
    watch,
    at,
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
});
