import { expect, it } from 'vitest';
import { rowsOf } from './catalogue-rows.js';

it('reads a model with its names and its prices, however they are nested', () => {
  const model = {
    id: 'm',
    type: 'image',
    aliases: ['a'],
    traits: ['default'],
    pricing: { input: 0.15, extended: { output: 2 }, steps: [{ usd: 1 }] },
    backends: [{}, {}],
  };
  expect(rowsOf({ models: [model] })).toEqual([
    {
      id: 'm',
      type: 'image',
      names: 'a, default',
      prices: 'input 0.15 · extended output 2 · steps 1 usd 1',
      backends: 2,
    },
  ]);
});

it.each([undefined, null, 'text', [], { models: {} }, { models: [1] }])(
  'shows no models of content that has none: %j',
  (content) => {
    expect(rowsOf(content)).toEqual([]);
  },
);
