import { Catalog, type Model } from '@svc/catalog';
import { CatalogModel } from '@svc/contracts/catalog';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costAtMostNano, priceUsage, priceUsages, totalUsage } from './chat-price.js';

function model(pricing: object): Model {
  const file = CatalogModel.parse({
    id: 'm',
    name: 'M',
    contextTokens: 1000,
    maxCompletionTokens: 100,
    pricing,
  });
  const [found] = new Catalog({ models: [file], tiers: {}, extras: {} }).text.list;
  if (!found) throw new Error('no model');
  return found;
}

const usage = {
  promptTokens: 0,
  completionTokens: 1,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

describe('priceUsages', () => {
  it('prices each backend call at its own rates, merges lines of the same price, and ignores calls without output', () => {
    const extended = model({
      input: 1,
      output: 1,
      extended: { contextTokenThreshold: 100, input: 2, output: 3 },
    });
    const asks = [60, 70, 101].map((promptTokens) => ({ ...usage, promptTokens }));
    const silent = { ...usage, promptTokens: 50, completionTokens: 0 };
    const lines = priceUsages(extended, [...asks, silent]);
    expect(lines.map(({ sku, units, amountNano }) => [sku, units, amountNano])).toEqual([
      ['m-llm-input-mtoken', 130, 130_000n],
      ['m-llm-output-mtoken', 2, 2_000n],
      ['m-llm-input-mtoken', 101, 202_000n],
      ['m-llm-output-mtoken', 1, 3_000n],
    ]);
    expect(totalUsage([...asks, silent])).toMatchObject({ promptTokens: 231, completionTokens: 3 });
    expect(totalUsage([silent])).toEqual(silent);
  });
});

describe('priceUsage', () => {
  it('prices fresh, cached and written prompt tokens and output separately, rounding each line up once', () => {
    const lines = priceUsage(model({ input: 0.15, output: 0.6, cacheInput: 0.075, cacheWrite: 0.1875 }), {
      ...usage,
      promptTokens: 1_000,
      cachedTokens: 300,
      cacheWriteTokens: 200,
      completionTokens: 7,
    });
    expect(lines.map(({ sku, units, amountNano }) => [sku, units, amountNano])).toEqual([
      ['m-llm-input-mtoken', 500, 75_000n],
      ['m-llm-cache-input-mtoken', 300, 22_500n],
      ['m-llm-cache-write-mtoken', 200, 37_500n],
      ['m-llm-output-mtoken', 7, 4_200n],
    ]);
  });

  it('prices tokens that are written for an hour separately, by default as the other written ones', () => {
    const written = { ...usage, promptTokens: 10, cacheWriteTokens: 9, hourCacheWriteTokens: 4 };
    const amounts = (cacheWriteHour?: number): unknown =>
      priceUsage(model({ input: 1, output: 1, cacheWrite: 1.25, cacheWriteHour }), {
        ...written,
        completionTokens: 1,
      }).map(({ sku, amountNano }) => [sku, amountNano]);
    const writes = (of: number, nano: bigint): unknown => ['m-llm-cache-write-mtoken', nano * BigInt(of)];
    const [input, output] = ['input', 'output'].map((kind) => [`m-llm-${kind}-mtoken`, 1_000n]);
    expect(amounts(2)).toEqual([input, writes(5, 1_250n), writes(4, 2_000n), output]);
    expect(amounts()).toEqual([input, writes(9, 1_250n), output]);
  });

  it('charges the extended rates for the whole request once the prompt is over the threshold', () => {
    const extended = model({
      input: 1,
      output: 1,
      extended: { contextTokenThreshold: 100, input: 2, output: 3 },
    });
    const at = priceUsage(extended, { ...usage, promptTokens: 100 });
    const over = priceUsage(extended, { ...usage, promptTokens: 101 });
    expect(at.map(({ amountNano }) => amountNano)).toEqual([100_000n, 1_000n]);
    expect(over.map(({ amountNano }) => amountNano)).toEqual([202_000n, 3_000n]);
  });

  it('charges nothing for a response without output', () => {
    expect(
      priceUsage(model({ input: 1, output: 1 }), { ...usage, promptTokens: 10, completionTokens: 0 }),
    ).toEqual([]);
  });

  it('never charges more prompt tokens than there are, whatever a backend reports', () => {
    const count = fc.nat(10_000);
    fc.assert(
      fc.property(count, count, count, (promptTokens, cachedTokens, cacheWriteTokens) => {
        const lines = priceUsage(model({ input: 1, output: 1 }), {
          ...usage,
          promptTokens,
          cachedTokens,
          cacheWriteTokens,
        });
        const prompt = lines
          .filter(({ sku }) => !sku.includes('output'))
          .reduce((sum, { units }) => sum + units, 0);
        expect(prompt).toBe(promptTokens);
      }),
    );
  });

  it('never exceeds the upper bound that is held', () => {
    const dear = model({ input: 1, output: 2, cacheInput: 0.5, cacheWrite: 1.25, cacheWriteHour: 2 });
    fc.assert(
      fc.property(
        fc.nat(5_000),
        fc.nat(5_000),
        fc.integer({ min: 1, max: 5_000 }),
        (fresh, written, output) => {
          const all = {
            ...usage,
            promptTokens: fresh + written,
            cacheWriteTokens: written,
            hourCacheWriteTokens: output,
            completionTokens: output,
          };
          const total = priceUsage(dear, all).reduce((sum, { amountNano }) => sum + amountNano, 0n);
          // Each line may round up by less than a nano-dollar.
          expect(total <= costAtMostNano(dear, all.promptTokens, output) + 4n).toBe(true);
        },
      ),
    );
  });
});
