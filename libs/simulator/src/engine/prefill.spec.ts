import { expect, test } from 'vitest';
import { SerialPrefill } from './prefill.js';

test('a prompt waits for those before it, and for none once they are computed', () => {
  const prefill = new SerialPrefill();
  expect(prefill.add(100, 1_000)).toBe(0);
  expect(prefill.add(50, 1_030)).toBe(70);
  expect(prefill.add(10, 1_149)).toBe(1);
  expect(prefill.add(10, 2_000)).toBe(0);
});
