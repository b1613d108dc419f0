import { expect, it } from 'vitest';
import { RecentMap } from './recent-map.js';

it('remembers for the time it promises, and not for three times that', () => {
  const map = new RecentMap<number>(100, 1_000);
  map.set('a', 1, 50);
  map.set('b', 2, 149);
  expect(map.get('a', 149)).toBe(1);
  expect(map.get('b', 248)).toBe(2);
  expect(map.get('a', 350)).toBeUndefined();
  expect(map.get('b', 449)).toBeUndefined();
  expect(map.size).toBe(0);
});

it('stays within its bound however many strangers come at once, and keeps the latest', () => {
  const map = new RecentMap<number>(60_000, 1_000);
  for (let index = 0; index < 100_000; index += 1) map.set(`ip:${index}`, index, 1);
  expect(map.size).toBeLessThanOrEqual(1_000);
  expect(map.get('ip:99999', 1)).toBe(99_999);
  expect(map.get('ip:99501', 1)).toBe(99_501);
});

it('gives the latest value of a key', () => {
  const map = new RecentMap<number>(100, 1_000);
  map.set('a', 1, 0);
  map.set('a', 2, 100);
  expect(map.get('a', 150)).toBe(2);
  map.delete('a');
  expect(map.get('a', 150)).toBeUndefined();
});
