import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonMembers, jsonObject } from './json-members.js';

describe('jsonMembers', () => {
  it('keeps the text of every value, including numbers beyond double precision', () => {
    const text = ' { "a" : 12345678901234567890.10 ,"b":"x\\"},{[",\n"c":[{"d":"]"}, 1e400 ] , "e":{} }';
    expect([...jsonMembers(text)]).toEqual([
      ['a', '12345678901234567890.10'],
      ['b', '"x\\"},{["'],
      ['c', '[{"d":"]"}, 1e400 ]'],
      ['e', '{}'],
    ]);
  });

  it('uses the last of two equal names, even when one is escaped', () => {
    expect(jsonMembers('{"a":1,"\\u0061":2}').get('a')).toBe('2');
  });

  it('reads strings that end in backslashes', () => {
    expect(jsonMembers('{"a":"\\\\","b":"\\\\\\"","c":1}').get('c')).toBe('1');
  });

  it.each([1, 15, 16, 17, 18, 100])('reads numbers of %d digits, and as many spaces', (length) => {
    const [number, spaces] = ['1'.repeat(length), ' '.repeat(length)];
    const list = `[${number},${spaces}${number}${spaces},{"b":${number}},"${number},"${spaces}]`;
    const members = jsonMembers(`{"a":${list}${spaces},"c":${number}${spaces}}`);
    expect([...members]).toEqual([
      ['a', list],
      ['c', number],
    ]);
  });

  it('restores any object, whatever its whitespace', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        (value, space) => {
          const text = JSON.stringify(value, null, space);
          const parsed: unknown = JSON.parse(text);
          expect(JSON.parse(jsonObject(jsonMembers(text)))).toEqual(parsed);
        },
      ),
      { numRuns: 500 },
    );
  });
});
