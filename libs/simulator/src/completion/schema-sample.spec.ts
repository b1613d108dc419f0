import { expect, test } from 'vitest';
import { z } from 'zod';
import { Random } from '../random.js';
import { sampleSchema } from './schema-sample.js';

const schemas: { readonly [name: string]: object } = {
  'a plain object': {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
  },
  'enum and const': {
    type: 'object',
    properties: { unit: { enum: ['celsius', 'fahrenheit'] }, kind: { const: 'weather' } },
    required: ['unit', 'kind'],
    additionalProperties: false,
  },
  'number bounds': {
    type: 'object',
    properties: {
      a: { type: 'integer', minimum: 5, maximum: 7 },
      b: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      c: { type: 'integer', multipleOf: 5, minimum: 11 },
      d: { type: 'integer', maximum: -3 },
    },
    required: ['a', 'b', 'c', 'd'],
  },
  'string lengths': {
    type: 'object',
    properties: { long: { type: 'string', minLength: 60 }, short: { type: 'string', maxLength: 4 } },
    required: ['long', 'short'],
  },
  formats: {
    type: 'object',
    properties: {
      email: { type: 'string', format: 'email' },
      id: { type: 'string', format: 'uuid' },
      at: { type: 'string', format: 'date-time' },
      day: { type: 'string', format: 'date' },
      link: { type: 'string', format: 'uri' },
      ip: { type: 'string', format: 'ipv4' },
    },
    required: ['email', 'id', 'at', 'day', 'link', 'ip'],
  },
  patterns: {
    type: 'object',
    properties: {
      code: { type: 'string', pattern: '^[A-Z]{3}-\\d{2,4}$' },
      word: { type: 'string', pattern: '^(foo|bar)+[^a-z0-9]?x*$' },
    },
    required: ['code', 'word'],
  },
  arrays: {
    type: 'object',
    properties: {
      tags: { type: 'array', items: { type: 'string' }, minItems: 4 },
      pair: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'boolean' }], items: false },
      few: { type: 'array', items: { type: 'integer' }, maxItems: 1 },
    },
    required: ['tags', 'pair', 'few'],
  },
  'anyOf, oneOf and null': {
    type: 'object',
    properties: {
      a: {
        anyOf: [
          { type: 'null' },
          { type: 'object', properties: { x: { type: 'boolean' } }, required: ['x'] },
        ],
      },
      b: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      c: { type: ['string', 'null'] },
    },
    required: ['a', 'b', 'c'],
  },
  '$ref to $defs': {
    $defs: {
      step: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
        additionalProperties: false,
      },
    },
    type: 'object',
    properties: {
      steps: { type: 'array', items: { $ref: '#/$defs/step' }, minItems: 1 },
      last: { $ref: '#/$defs/step' },
    },
    required: ['steps', 'last'],
  },
  'a recursive schema': {
    $defs: {
      node: {
        type: 'object',
        properties: {
          value: { type: 'integer' },
          next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
        },
        required: ['value', 'next', 'children'],
      },
    },
    $ref: '#/$defs/node',
  },
  'a bare array': { type: 'array', items: { type: 'integer' } },
};

test.each(Object.entries(schemas))('every sample of %s is valid', (_, schema) => {
  const validator = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  for (let seed = 0; seed < 40; seed++) {
    const value = sampleSchema(schema, new Random(seed));
    expect(
      validator.safeParse(value).error?.issues,
      `seed ${seed}: ${JSON.stringify(value)}`,
    ).toBeUndefined();
  }
});

test('the same seed gives the same value, a different seed a different one', () => {
  const schema = { type: 'array', items: { type: 'string' }, minItems: 5 };
  expect(sampleSchema(schema, new Random(1))).toEqual(sampleSchema(schema, new Random(1)));
  expect(sampleSchema(schema, new Random(1))).not.toEqual(sampleSchema(schema, new Random(2)));
});

test('unique items are unique', () => {
  const value = sampleSchema(
    { type: 'array', uniqueItems: true, minItems: 3, items: { enum: ['a', 'b', 'c'] } },
    new Random(3),
  );
  expect(new Set(value as string[])).toEqual(new Set(['a', 'b', 'c']));
});

test("an enum value or a place in the user's text is preferred", () => {
  const schema = {
    type: 'object',
    properties: { unit: { enum: ['fahrenheit', 'celsius'] }, location: { type: 'string' } },
    required: ['unit', 'location'],
  };
  expect(sampleSchema(schema, new Random(1), 'What is the weather in Tokyo, in celsius?')).toEqual({
    unit: 'celsius',
    location: 'Tokyo',
  });
});
