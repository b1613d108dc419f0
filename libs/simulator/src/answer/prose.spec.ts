import { expect, test } from 'vitest';
import { prose } from './prose.js';
import { Random } from '../random.js';

test('prose has exactly the tokens asked for and repeats for the same seed', () => {
  for (const count of [0, 1, 2, 33, 500]) expect(prose(new Random(5), count)).toHaveLength(count);
  expect(prose(new Random(5), 50)).toEqual(prose(new Random(5), 50));
  expect(prose(new Random(5), 50)).not.toEqual(prose(new Random(6), 50));
});

test('some answers hold characters of several bytes, and all do when asked', () => {
  const isAscii = (seed: number, international: boolean): boolean => {
    const text = prose(new Random(seed), 100, international).join('');
    return Buffer.byteLength(text) === text.length;
  };
  const seeds = Array.from({ length: 40 }, (_, i) => i);
  expect(seeds.some((seed) => isAscii(seed, false))).toBe(true);
  expect(seeds.some((seed) => !isAscii(seed, false))).toBe(true);
  expect(seeds.some((seed) => isAscii(seed, true))).toBe(false);
});
