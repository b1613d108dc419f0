import { describe, expect, it } from 'vitest';
import { RecentIds } from './recent-ids.js';

describe('RecentIds', () => {
  it('remembers an id for at least its time, and forgets it in the end', () => {
    const ids = new RecentIds(100, 1_000);
    ids.add('a', 0);
    ids.add('b', 99);
    expect([ids.has('a', 100), ids.has('b', 199)]).toEqual([true, true]);
    ids.has('x', 299);
    expect(ids.has('a', 400)).toBe(false);
  });

  it('remembers the latest ids when there are too many, and no more than its limit', () => {
    const ids = new RecentIds(100, 10);
    const all = Array.from({ length: 100 }, (_, index) => String(index));
    for (const id of all) ids.add(id, 0);
    const kept = all.filter((id) => ids.has(id, 0));
    expect(kept).toEqual(all.slice(-kept.length));
    expect(kept.length).toBeGreaterThanOrEqual(5);
    expect(kept.length).toBeLessThanOrEqual(10);
  });
});
