import { describe, expect, it } from 'vitest';
import { looseName, looseNames, nearestName } from './model-names.js';

describe('looseName', () => {
  it.each(['Llama 3.2 3B', 'llama_3_2_3b', 'svc-llama-3.2-3b', 'LLAMA-3.2-3B'])('normalizes %s', (name) => {
    expect(looseName(name)).toBe('llama-3-2-3b');
  });
});

describe('looseNames', () => {
  it('gives no match for a name that fits two models', () => {
    const names = looseNames(
      new Map([
        ['a.b', 1],
        ['a-b', 2],
        ['c_d', 3],
        ['c.d', 3],
      ]),
    );
    expect(names.get('a-b')).toBeUndefined();
    expect(names.get('c-d')).toBe(3);
  });
});

describe('nearestName', () => {
  const names = ['llama-3.2-3b', 'mistral-31-24b', 'default'];

  it.each([
    ['lama-3.2-3b', 'llama-3.2-3b'],
    ['mistral', 'mistral-31-24b'],
    ['mistral-31-42b', 'mistral-31-24b'],
    ['defualt', 'default'],
  ])('suggests for %s the name %s', (name, meant) => {
    expect(nearestName(name, names)).toBe(meant);
  });

  it.each(['gpt-9-turbo-preview', 'x', '', 'l'.repeat(100_000)])(
    'suggests nothing when no name is close (%#)',
    (name) => {
      expect(nearestName(name, names)).toBeUndefined();
    },
  );
});
