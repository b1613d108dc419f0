import { describe, expect, it } from 'vitest';
import { elementsOf, listPart, membersOf, objectPart, partOf, prefixedPart } from './json-part.js';

const parsed = (text: string) => ({ value: JSON.parse(text) as unknown, text });

describe('a part of a JSON text', () => {
  it('moves to another place with its bytes', () => {
    const members = membersOf(parsed('{ "a" : [1e400, {"b":18446744073709551616.0}], "c": "\\u0041" }'));
    const [, second] = elementsOf(members.get('a') ?? partOf([]));
    const moved = objectPart([
      ['x', second],
      ['y', members.get('c')],
      ['z', members.get('none')],
    ]);
    expect(moved.text).toBe('{"x":{"b":18446744073709551616.0},"y":"\\u0041"}');
    expect(moved.value).toEqual({ x: { b: 2 ** 64 }, y: 'A' });
  });

  it('has the last of duplicate members, in its value and in its text', () => {
    const members = membersOf(parsed('{"a":1,"b":2,"a":3}'));
    expect(members.get('a')).toEqual({ value: 3, text: '3' });
    expect(objectPart(members).text).toBe('{"a":3,"b":2}');
  });

  it('lacks the members that a schema has dropped', () => {
    const members = membersOf({ value: { a: 1 }, text: '{"a":1,"b":2}' });
    expect([...members.keys()]).toEqual(['a']);
  });

  it('treats `__proto__` as a plain member', () => {
    const part = objectPart(membersOf(parsed('{"__proto__":{"a":1}}')));
    expect(JSON.stringify(part.value)).toBe('{"__proto__":{"a":1}}');
    expect(part.text).toBe('{"__proto__":{"a":1}}');
  });

  it('keeps the escapes of a string that gets a prefix', () => {
    const part = prefixedPart('data:"', parsed('"\\u0041\\n"'));
    expect(part.text).toBe('"data:\\"\\u0041\\n"');
    expect(part.value).toBe('data:"A\n');
  });

  it('is empty if it is no object or list', () => {
    for (const text of ['1', 'null', '"a"']) {
      expect(membersOf(parsed(text)).size).toBe(0);
      expect(elementsOf(parsed(text))).toEqual([]);
    }
    expect(listPart([]).text).toBe('[]');
  });
});
