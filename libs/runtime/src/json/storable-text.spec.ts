import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseUnstorable } from './storable-text.js';

const UNSTORABLE = fc.constantFrom('\0', 'a\0b', '\ud800', 'a\udfff', '\udc00\ud800');

/** A value with another one in it, and the path to that. */
const nested = (inner: unknown, steps: readonly (string | number)[]): unknown =>
  steps.reduceRight<unknown>(
    (value, step) =>
      typeof step === 'number'
        ? [...Array<string>(step).fill('ok'), value]
        : Object.fromEntries([
            ['other', 1],
            [step, value],
          ]),
    inner,
  );

describe('a text of a request', () => {
  const steps = fc.array(fc.oneof(fc.nat(3), fc.constantFrom('model', '__proto__', 'constructor', '😀')), {
    maxLength: 6,
  });

  it('is refused by its path if PostgreSQL could not store it, wherever it is', () => {
    fc.assert(
      fc.property(UNSTORABLE, steps, (text, path) => {
        const issue = { path, message: expect.stringContaining('NUL or unpaired surrogate') as string };
        const refusal = expect.objectContaining({
          code: 'INVALID_REQUEST',
          issues: [expect.objectContaining(issue)],
        });
        expect(() => refuseUnstorable(nested(text, path))).toThrow(refusal as Error);
        expect(() => refuseUnstorable(nested({ [text]: 1 }, path))).toThrow(refusal as Error);
      }),
    );
  });

  it('is returned unchanged otherwise', () => {
    fc.assert(
      fc.property(fc.jsonValue(), steps, (value, path) => {
        fc.pre(!/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(value)));
        const whole = nested(value, path);
        expect(refuseUnstorable(whole)).toBe(whole);
      }),
    );
    expect(refuseUnstorable(Buffer.alloc(10))).toHaveLength(10);
  });

  it('may be at any depth', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
    expect(refuseUnstorable(deep)).toBe(deep);
  });
});
