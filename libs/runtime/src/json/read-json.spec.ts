import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from './read-json.js';

/** Makes a text long enough to be read in slices. */
const long = (text: string): string => `${text}${' '.repeat(300_000)}`;

const parseJson = async (text: string): Promise<unknown> => (await readJson(Buffer.from(text))).value;

/** Reads a body and writes it back to bytes. */
async function rewritten(bytes: Buffer): Promise<Buffer> {
  const { json } = await readJson(bytes);
  const written = await json.strings.bytesOf(json.text);
  expect(json.strings.byteLength(json.text)).toBe(written.reduce((sum, { length }) => sum + length, 0));
  return Buffer.concat(written);
}

describe('readJson', () => {
  it('reads what JSON.parse reads, with long strings and all escapes in any place', async () => {
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
        expect((await rewritten(Buffer.from(long(sent)))).toString()).toBe(long(sent));
      }),
      { numRuns: 60 },
    );
  });

  it('keeps the last of two equal members, and treats `__proto__` as a plain member', async () => {
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
    ['text after it', `["${'x'.repeat(300_000)}"] x`],
  ])('rejects %s', async (_what, text) => {
    await expect(parseJson(text)).rejects.toBeInstanceOf(SyntaxError);
  });

  it('keeps long strings beside the text, in pieces of a bounded size', async () => {
    const { json } = await readJson(Buffer.from(`{"a":["${'x'.repeat(3_000_000)}","${'y'.repeat(100)}"]}`));
    expect(json.text.length).toBeLessThan(200);
    const pieces = await json.strings.bytesOf(json.text.replace('{', '{"b":1,'));
    expect(Buffer.concat(pieces).toString()).toMatch(/^\{"b":1,"a":\["x{3000000}","y{100}"\]\}$/);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(262_144 * 2);
  });

  it.each([300_000, 3])('rejects invalid UTF-8 in %s bytes', async (size) => {
    const bytes = Buffer.from(`["${'x'.repeat(size)}"]`);
    bytes[4] = 0xff;
    await expect((async () => readJson(bytes))()).rejects.toBeInstanceOf(SyntaxError);
  });

  it.each([
    ['spaces', `[${' '.repeat(5_000_000)}]`],
    ['spaces behind a string', `["${'x'.repeat(300)}"${' '.repeat(5_000_000)}]`],
    ['a number', `[${'1'.repeat(5_000_000)}]`],
    ['names', `{${Array.from({ length: 20 }, (_, at) => `"${'x'.repeat(300_000)}${at}":1`).join()}}`],
  ])('rejects megabytes of %s', async (_what, text) => {
    await expect(parseJson(text)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('accepts a name of any length within the limit', async () => {
    const text = `{"${'x'.repeat(300_000)}":1,"a":"${'y'.repeat(300_000)}"}`;
    expect(await parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each(['\\u0041', '\\"', '\\\\', 'x'])('yields to the event loop within a string of %s', async (unit) => {
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 0);
    await parseJson(`["${unit.repeat(4_000_000)}"]`);
    clearInterval(turning);
    expect(turns).toBeGreaterThan(2);
  });
});
