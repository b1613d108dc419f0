import { expect, test } from 'vitest';
import { QueueFull, Slots } from './slots.js';

test('slots are granted up to the limit, then in the order of requests', () => {
  const slots = new Slots(1, 2);
  const granted: string[] = [];
  expect(slots.tryTake()).toBe(true);
  expect(slots.tryTake()).toBe(false);
  slots.enqueue(() => granted.push('first'));
  slots.enqueue(() => granted.push('second'));
  slots.release();
  slots.release();
  expect(granted).toEqual(['first', 'second']);
  slots.release();
  expect(slots.used).toBe(0);
  expect(slots.peak).toBe(1);
});

test('a full queue rejects', () => {
  const slots = new Slots(1, 1);
  slots.tryTake();
  slots.enqueue(() => undefined);
  expect(() => slots.enqueue(() => undefined)).toThrow(QueueFull);
});

test('a caller that leaves the queue is skipped', () => {
  const slots = new Slots(1, 2);
  const granted: string[] = [];
  slots.tryTake();
  const leave = slots.enqueue(() => granted.push('left'));
  slots.enqueue(() => granted.push('stayed'));
  leave();
  slots.release();
  expect(granted).toEqual(['stayed']);
});
