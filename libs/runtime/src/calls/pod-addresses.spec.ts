import { describe, expect, it } from 'vitest';
import { placed } from './pod-addresses.js';

describe('positions of addresses', () => {
  it.each([
    [[], ['a', 'b'], ['a', 'b']],
    [
      ['a', 'b', 'c'],
      ['c', 'a'],
      ['a', undefined, 'c'],
    ],
    [
      ['a', undefined, 'c'],
      ['c', 'a', 'd', 'e'],
      ['a', 'd', 'c', 'e'],
    ],
    [['a', 'b'], ['a', 'a'], ['a']],
    [['a', 'b'], [], []],
  ])('%j become %j with the addresses %j', (before, found, after) => {
    expect(placed(before, found)).toEqual(after);
  });

  it('are the same array as long as nothing changes', () => {
    const before = ['a', undefined, 'c'];
    expect(placed(before, ['c', 'a'])).toBe(before);
  });
});
