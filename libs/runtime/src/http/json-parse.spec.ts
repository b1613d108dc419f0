import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from './json-parse.js';

/** Makes a text long enough that it is read in slices. */
const long = (text: string): string => `${text}${' '.repeat(300_000)}`;

describe('parseJson', () => {
  it('reads what JSON.parse reads, long strings and all escapes at any place included', async () => {
    const unit = fc.constantFrom(
      'a',
      '"',
      '\\',
      '\n',
      '\u0001',
      'é',
      '🙂',
      '\ud83d',
      '\\u0041',
      '/',
      '\u2028',
    );
    const text = fc.array(unit, { maxLength: 40 }).map((units) => units.join(''));
    const repeated = fc.tuple(text, fc.constantFrom(1, 30, 7_000)).map(([each, times]) => each.repeat(times));
    const value = fc.oneof(
      repeated,
      fc.array(repeated, { maxLength: 3 }),
      fc.dictionary(text, repeated, { maxKeys: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(value, fc.boolean(), async (given, escaped) => {
        const json = JSON.stringify(given);
        const sent = escaped ? json.replaceAll('a', '\\u0061').replaceAll('/', '\\/') : json;
        expect(await parseJson(long(sent))).toEqual(JSON.parse(sent));
      }),
      { numRuns: 60 },
    );
  });

  it('lets the last of two members win, and makes `__proto__` a member like any other', async () => {
    const many = 'x'.repeat(1_000);
    const text = `{"a":"${many}1","a":"${many}2","__proto__":"${many}3"}`;
    expect(await parseJson(long(text))).toEqual(JSON.parse(text));
  });

  it.each([
    ['an end that is missing', `{"a":"${'x'.repeat(300_000)}`],
    ['an escape that is cut', `{"a":"${'x'.repeat(300_000)}\\`],
    ['an escape of nothing', `{"a":"${'x'.repeat(300_000)}\\q"}`],
    ['an escape of too few digits', `{"a":"${'x'.repeat(300_000)}\\u00"}`],
    ['a control character', `{"a":"${'x'.repeat(300_000)}\n"}`],
    ['a string where a name should be', `{"${'x'.repeat(300_000)}"}`],
    ['two strings side by side', `["${'x'.repeat(300_000)}" "a"]`],
    ['a name of any length', `{"${'x'.repeat(300_000)}":1}`],
    ['text after it', `["${'x'.repeat(300_000)}"] x`],
  ])('refuses %s', async (_what, text) => {
    await expect(parseJson(text)).rejects.toBeInstanceOf(SyntaxError);
  });

  it.each(['\\u0041', '\\"', '\\\\', 'x'])('lets others have their turns in a string of %s', async (unit) => {
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 0);
    await parseJson(`["${unit.repeat(4_000_000)}"]`);
    clearInterval(turning);
    expect(turns).toBeGreaterThan(5);
  });
});
