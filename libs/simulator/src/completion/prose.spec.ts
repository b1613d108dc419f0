import { expect, test } from 'vitest';
import { prose } from './prose.js';
import { Random } from '../random.js';

test('prose has exactly the requested number of tokens, and is the same for the same seed', () => {
  for (const count of [0, 1, 2, 33, 500]) expect(prose(new Random(5), count)).toHaveLength(count);
  expect(prose(new Random(5), 50)).toEqual(prose(new Random(5), 50));
  expect(prose(new Random(5), 50)).not.toEqual(prose(new Random(6), 50));
});

test('some completions contain multi-byte characters, and all do on request', () => {
  const isAscii = (seed: number, international: boolean): boolean => {
    const text = prose(new Random(seed), 100, international).join('');
    return Buffer.byteLength(text) === text.length;
  };
  const seeds = Array.from({ length: 40 }, (_, i) => i);
  expect(seeds.some((seed) => isAscii(seed, false))).toBe(true);
  expect(seeds.some((seed) => !isAscii(seed, false))).toBe(true);
  expect(seeds.some((seed) => isAscii(seed, true))).toBe(false);
});
