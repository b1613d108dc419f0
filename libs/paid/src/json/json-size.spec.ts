import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonSize } from './json-size.js';

describe('jsonSize', () => {
  it('equals the size of the JSON text, apart from escapes and a comma or two', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '🙂', ' ', '0') });
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        text,
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
        fc.array(tie('value')),
        fc.dictionary(text, tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(value, (given) => {
        const bytes = Buffer.byteLength(JSON.stringify(given));
        expect(jsonSize(given)).toBeGreaterThanOrEqual(bytes);
        expect(jsonSize(given)).toBeLessThanOrEqual(bytes + 2 * countOf(given));
      }),
    );
  });

  it('may be asked of a value of any depth', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown;
    expect(jsonSize(deep)).toBeGreaterThanOrEqual(200_000);
  });
});

/** The number of lists and objects in a value, including itself. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + countOf(member), 1);
}
