import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonReader, boundedJson, jsonOrUndefined, unescapedJson } from './json-reader.js';

const LIMITS = { levels: 5, members: 40 };

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const wide = (members: number): string => `[${Array.from({ length: members }, () => '0').join()}]`;

describe('a JSON text from outside', () => {
  it('is parsed as JSON.parse parses it, or refused as JSON.parse refuses it, within its limits', () => {
    const text = fc.oneof(
      fc.json({ maxDepth: 3 }),
      fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', '1', 'a') }),
    );
    const outcome = (parse: (json: string) => unknown, json: string): unknown => {
      try {
        return { value: parse(json) };
      } catch (error) {
        return (error as Error).name;
      }
    };
    fc.assert(
      fc.property(text, (json) => {
        expect(outcome(boundedJson, json)).toEqual(outcome(JSON.parse, json));
      }),
    );
  });

  it('is refused unparsed with one level or member too many, whatever its length', () => {
    for (const space of ['', ' '.repeat(10_000)]) {
      expect(boundedJson(nested(5) + space, LIMITS)).toEqual([[[[[]]]]]);
      expect(() => boundedJson(nested(6) + space, LIMITS)).toThrow('too many levels');
      expect(boundedJson(wide(40) + space, LIMITS)).toHaveLength(40);
      expect(() => boundedJson(wide(41) + space, LIMITS)).toThrow('too many members');
    }
    expect(() => boundedJson('['.repeat(4_000_000))).toThrow('too many levels');
    expect(jsonOrUndefined(nested(501))).toBeUndefined();
  });

  it('has its members counted together with those of the other texts of a request', () => {
    const reader = new JsonReader(LIMITS);
    expect(reader.read(wide(30))).toHaveLength(30);
    expect(() => reader.read(wide(11))).toThrow('too many members');
    expect(reader.read(Buffer.from(wide(10)))).toHaveLength(10);
    expect(() => reader.read(wide(1))).toThrow('too many members');
  });

  it('spends its members even if it turns out to be invalid', () => {
    const reader = new JsonReader(LIMITS);
    expect(() => reader.read(`${wide(30)}x`)).toThrow('not valid');
    expect(() => reader.read(wide(11))).toThrow('too many members');
  });

  it('is not quoted in the error', () => {
    expect(() => boundedJson('my secret')).toThrow(/^the text is not valid JSON$/);
  });
});

describe('the characters of a JSON string', () => {
  it('are decoded, and nothing beside them is read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (value) => {
        expect(unescapedJson(JSON.stringify(value).slice(1, -1))).toBe(value);
      }),
    );
    for (const characters of ['a","b', '",["', '\\', '"', '\n'])
      expect(() => unescapedJson(characters)).toThrow(SyntaxError);
  });
});
