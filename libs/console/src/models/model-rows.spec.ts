import { expect, it } from 'vitest';
import { pricesOf } from './model-rows.js';

it('lists every price of a model, however they are nested', () => {
  const price = (usd: number) => ({ usd, diem: usd });
  const pricing = {
    input: price(0.15),
    extended: { context_token_threshold: 1_000, input: price(0.3) },
    quality: { '2K': { high: price(0.2) } },
  };
  expect(pricesOf(pricing)).toEqual([
    { name: 'input', usd: 0.15 },
    { name: 'extended input', usd: 0.3 },
    { name: 'quality 2K high', usd: 0.2 },
  ]);
  expect(pricesOf(undefined)).toEqual([]);
});
