import { expect, test } from 'vitest';
import { Pace } from './pace.js';

const ALONE = { queuedMs: 0, slowdown: 1 };

test('tokens are due at the time to first token and then at even intervals', () => {
  const pace = new Pace({ ttftMs: 20, itlMs: 5, jitter: 0, prefillUsPerToken: 100, ...ALONE }, 50, 1);
  expect([pace.next(), pace.next(), pace.next()]).toEqual([25, 30, 35]);
});

test('zero delays mean no waiting', () => {
  const options = { ttftMs: 0, itlMs: 0, jitter: 1, prefillUsPerToken: 0, ...ALONE };
  expect(new Pace(options, 50, 1).isInstant).toBe(true);
});

test('jitter stays within its fraction, never goes backwards and is the same for the same seed', () => {
  const options = { ttftMs: 10, itlMs: 4, jitter: 0.5, prefillUsPerToken: 0, ...ALONE };
  const times = (seed: number): number[] => {
    const pace = new Pace(options, 1, seed);
    return Array.from({ length: 200 }, () => pace.next());
  };
  const first = times(7);
  expect(first).toEqual(times(7));
  expect(first).not.toEqual(times(8));
  const waits = first.slice(1).map((due, i) => due - (first[i] ?? 0));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(2);
  expect(Math.max(...waits)).toBeLessThanOrEqual(6);
});

test('a prompt that waits for others begins later, and a full batch decodes more slowly', () => {
  const options = { ttftMs: 20, itlMs: 5, jitter: 0, prefillUsPerToken: 100, queuedMs: 40, slowdown: 1.5 };
  const pace = new Pace(options, 50, 1);
  expect([pace.next(), pace.next(), pace.next()]).toEqual([65, 72.5, 80]);
});
