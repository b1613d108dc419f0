import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeeperThan, refuseExcess } from './request-bounds.js';

const check = (value: unknown): void => refuseExcess(JSON.stringify(value), value);

/** How deep a value is nested, the slow way. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('isDeeperThan', () => {
  it('counts levels, whatever stands in strings', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        const depth = depthOf(JSON.parse(text));
        expect(isDeeperThan(text, depth)).toBe(false);
        expect(isDeeperThan(text, depth - 1)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('refuseExcess', () => {
  it('lets a long conversation pass, and large fields that are not checked', () => {
    const messages = Array.from({ length: 5_000 }, () => ({
      role: 'user',
      content: [{ type: 'text', text: 'a' }],
    }));
    expect(() =>
      check({ model: 'm', messages, x_unknown: Array.from({ length: 100_000 }, () => 0) }),
    ).not.toThrow();
    for (const value of [null, 7, [], 'a', {}]) expect(() => check(value)).not.toThrow();
  });

  it.each([
    ['messages', { messages: Array.from({ length: 20_001 }, () => 0) }],
    [
      'messages',
      { messages: Array.from({ length: 3 }, () => ({ content: Array.from({ length: 7_000 }, () => 0) })) },
    ],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`k${at}`, 0])) }],
  ])('refuses more members of %s than any decent request has', (field, value) => {
    expect(() => check(value)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST', param: field }));
  });

  it('refuses what is nested deeper than any decent request', () => {
    const text = `{"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    expect(() => refuseExcess(text, JSON.parse(text))).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
  });
});
