import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonBounds } from './json-bounds.js';

/** The nesting depth of a value, computed the slow way. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The number of members of its objects and lists; an empty one counts as one. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Object.values(value);
  return Math.max(1, members.length) + members.reduce<number>((sum, member) => sum + membersOf(member), 0);
}

/** The exceeded limit when the bytes come in pieces of these sizes, repeated. */
function inPieces(text: string, sizes: readonly number[], limits: { levels: number; members: number }) {
  const bounds = new JsonBounds(limits);
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    const exceeded = bounds.exceededBy(bytes.subarray(at, at + size));
    if (exceeded) return exceeded;
    at += size;
  }
  return undefined;
}

const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 });
/** Short and long strings full of characters that look like structure. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', '}', 'é', '\n', 'a'), maxLength: 200 }),
  fc.string(),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(text, tie('value'), { maxKeys: 5 }),
  ),
})).value;

describe('JsonBounds', () => {
  it('counts levels and members exactly, whatever strings contain and wherever the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(json), sizes, (value, cuts) => {
        const body = JSON.stringify(value);
        const [levels, members] = [depthOf(value), membersOf(value)];
        expect(inPieces(body, cuts, { levels, members })).toBeUndefined();
        expect(inPieces(body, cuts, { levels: levels - 1, members })).toBe('levels');
        expect(inPieces(body, cuts, { levels, members: members - 1 })).toBe('members');
      }),
      { numRuns: 1_000 },
    );
  });

  it('stops as soon as the levels are exceeded, however much follows', () => {
    const bounds = new JsonBounds({ levels: 500, members: 1_000_000 });
    expect(bounds.exceededBy(Buffer.alloc(65_536, '['))).toBe('levels');
  });

  it('reports nothing for invalid JSON', () => {
    for (const body of ['', '"', '"\\', ']]]]', ',"'])
      expect(new JsonBounds({ levels: 1, members: 2 }).exceededBy(Buffer.from(body))).toBeUndefined();
  });
});
