import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPattern } from './patterns.js';

const few = (...characters: string[]) => fc.string({ unit: fc.constantFrom(...characters), maxLength: 12 });
const escaped = (part: string): string => part.replace(/[.]/g, '\\.');

describe('a pattern', () => {
  it('matches what the same regular expression matches', () => {
    fc.assert(
      fc.property(few('a', 'b', '.', '*'), few('a', 'b', '.'), (pattern, text) => {
        const expression = new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`);
        expect(matchesPattern(pattern, text)).toBe(expression.test(text));
      }),
    );
  });

  it('that matches another pattern matches all that the other one does', () => {
    fc.assert(
      fc.property(few('a', '*'), few('a', '*'), few('a', 'b'), (wide, narrow, text) => {
        fc.pre(matchesPattern(wide, narrow) && matchesPattern(narrow, text));
        expect(matchesPattern(wide, text)).toBe(true);
      }),
    );
  });

  it('with many stars and a long text takes few steps', () => {
    expect(matchesPattern(`${'*a'.repeat(100)}b`, 'a'.repeat(100_000))).toBe(false);
  });
});
