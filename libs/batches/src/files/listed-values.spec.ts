import type { Problem } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { ListedValues } from './listed-values.js';

/** The values of a document that comes in these parts; the code of a problem in its place. */
function valuesOf(parts: readonly Buffer[], limitBytes = 1_000): string[] | string {
  const values: string[] = [];
  const reader = new ListedValues('requests', limitBytes, (value) => values.push(value.toString()));
  try {
    for (const part of parts) reader.add(part);
    reader.end();
  } catch (error) {
    return (error as Problem).code;
  }
  return values;
}

const DOCUMENTS: readonly (readonly [string, string[] | string])[] = [
  ['{"requests":[{"a":1}]}', ['{"a":1}']],
  [' {"x":{"requests":[{"a":0}]},"requests" : [ {"a":[{}]} , {} ],"y":[1]} ', ['{"a":[{}]}', '{}']],
  ['{"requests":[{"a":"}]\\"{"},{"b":"\\\\"}]}', ['{"a":"}]\\"{"}', '{"b":"\\\\"}']],
  ['{"a":"\\"requests\\":[{}]","requests":[{"é€😀":1}]}', ['{"é€😀":1}']],
  ['{"requests":[]}', 'INVALID_REQUEST'],
  ['{"requests":{"a":{}}}', 'INVALID_REQUEST'],
  ['{"requests":[[{}]]}', 'INVALID_REQUEST'],
  ['{"requests":[{},0]}', 'INVALID_REQUEST'],
  ['{"requests":[{},"{}"]}', 'INVALID_REQUEST'],
  ['{"requests":[0]}', 'INVALID_REQUEST'],
  ['{"requests":[{}],"requests":[{}]}', 'INVALID_REQUEST'],
  ['{"others":[{}]}', 'INVALID_REQUEST'],
  ['[{"requests":[{}]}]', 'INVALID_REQUEST'],
  ['null', 'INVALID_REQUEST'],
  ['', 'INVALID_JSON'],
  ['{"requests":[{}', 'INVALID_JSON'],
  ['{"requests":[{}]', 'INVALID_JSON'],
  ['{"requests":[{} {}]}', 'INVALID_JSON'],
  [']]]]{"requests":[{}]}', 'INVALID_JSON'],
  ['{"requests":[{"a":"', 'INVALID_JSON'],
];

describe.each(DOCUMENTS)('the document %j', (document, expected) => {
  const bytes = Buffer.from(document);

  it('has the same values, wherever it is split into two parts', () => {
    const split = Array.from({ length: bytes.length + 1 }, (_, at) =>
      valuesOf([bytes.subarray(0, at), bytes.subarray(at)]),
    );
    expect(new Set(split.map((values) => JSON.stringify(values)))).toEqual(
      new Set([JSON.stringify(expected)]),
    );
  });

  it('has the same values byte by byte', () => {
    expect(valuesOf(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(expected);
  });
});

describe('a document', () => {
  it('is refused once a value is too long, before it ends', () => {
    expect(valuesOf([Buffer.from(`{"requests":[{"a":"${'x'.repeat(2_000)}`)])).toBe('INVALID_REQUEST');
  });

  it('is refused once it has too much beside its values', () => {
    expect(valuesOf([Buffer.from(`{"a":"${'x'.repeat(2_000_000)}`)])).toBe('INVALID_REQUEST');
  });

  it('takes time linear in its bytes, whatever it has beside its values', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `"${at}":{}`).join(',');
    expect(valuesOf([Buffer.from(`{${many.slice(0, 1_000_000)}`)])).toBe('INVALID_JSON');
  });
});
