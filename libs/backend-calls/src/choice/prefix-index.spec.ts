import { expect, it } from 'vitest';
import { random } from '../../test/seeded.js';
import { PrefixIndex } from './prefix-index.js';

const blocksOf = (...blocks: readonly number[]): Uint32Array => Uint32Array.from(blocks);

it('knows the blocks that two prompts have in common at their beginning', () => {
  const index = new PrefixIndex();
  expect(index.known(blocksOf(1, 2, 3))).toBe(0);
  index.add(blocksOf(1, 2, 3, 4));
  expect(index.known(blocksOf(1, 2, 3, 4, 5))).toBe(4);
  expect(index.known(blocksOf(1, 2, 9, 4))).toBe(2);
  expect(index.known(blocksOf(9, 2, 3, 4))).toBe(0);
});

it('drops the least recently used blocks first, ends of prompts before their beginnings', () => {
  const index = new PrefixIndex();
  index.add(blocksOf(1, 2, 3));
  index.add(blocksOf(4, 5, 6));
  index.add(blocksOf(1, 2, 3));
  // Five of the six blocks.
  index.shrink();
  index.add(blocksOf(7));
  expect(index.known(blocksOf(4, 5, 6))).toBe(1);
  expect(index.known(blocksOf(1, 2, 3))).toBe(3);
  expect(index.known(blocksOf(7))).toBe(1);
});

it('has the blocks of a list in the order of their use, after any history', () => {
  const next = random(7);
  const index = new PrefixIndex();
  const recent = new Set<number>();
  // All in the same places of a table.
  const block = (): number => Math.floor(next() * 4_000) * 65_536 + Math.floor(next() * 8);
  let most = 16_384;
  for (let step = 0; step < 39_999; step += 1) {
    const one = block();
    recent.delete(one);
    recent.add(one);
    index.add(blocksOf(one));
    if (step % 10_000 === 9_999) {
      most = Math.min(most, recent.size) * 0.95;
      index.shrink();
    }
    for (const oldest of recent) {
      if (recent.size <= most) break;
      recent.delete(oldest);
    }
  }
  const wrong = Array.from({ length: 4_000 }, block).filter(
    (one) => (index.known(blocksOf(one)) === 1) !== recent.has(one),
  );
  expect(wrong).toEqual([]);
});
