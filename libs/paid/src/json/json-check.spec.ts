import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkJson } from './json-check.js';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const isAccepted = (text: string): Promise<boolean> =>
  checkJson(text).then(
    () => true,
    (error: unknown) => {
      expect(error).toBeInstanceOf(SyntaxError);
      return false;
    },
  );

describe('the check of a JSON text', () => {
  it('accepts what JSON.parse accepts, and nothing else', async () => {
    const valid = fc
      .tuple(fc.json(), fc.constantFrom(undefined, 1, '\t'))
      .map(([json, space]) => JSON.stringify(JSON.parse(json), null, space));
    const unit = fc.constantFrom(
      ...'{}[],:"\\u01-.eE \n\u0000\u00a0\u007fa',
      'true',
      'null',
      '"a":',
      '"\\n"',
    );
    const edited = fc.tuple(valid, fc.nat(), fc.nat(2), unit).map(([text, at, cut, added]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + added + text.slice(from + cut);
    });
    const text = fc.oneof(
      valid,
      edited,
      fc.array(unit, { maxLength: 8 }).map((units) => units.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (json) => {
        expect(await isAccepted(json)).toBe(isJson(json));
      }),
      { numRuns: 1_000 },
    );
  });

  it('accepts 4,096 levels and refuses more', async () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(await isAccepted(nested(4_096))).toBe(true);
    expect(await isAccepted(nested(4_097))).toBe(false);
  });

  it.each([
    ['nested lists', `[${'[[]],'.repeat(1_600_000)}0]`],
    ['objects', `[${'{"a":{}},'.repeat(900_000)}0]`],
    ['short strings', `[${'"x",'.repeat(2_000_000)}0]`],
  ])('lets other work go on while it reads 8 MB of %s', async (_what, text) => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    expect(await isAccepted(text)).toBe(true);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(20);
  });
});
