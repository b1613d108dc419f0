import { Catalog, type Model } from '@svc/catalog';
import { CatalogEntry, type CatalogModel } from '@svc/contracts/catalog';
import type { Usage } from '@svc/contracts/messages';
import {
  CHAT_FORMS,
  type Utterance,
  type TrueCounts,
  countsFor,
  readStream,
  readWhole,
} from '@svc/router/testing';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceUsage } from './chat-price.js';

/** Of tests that repeat. */
const LONG = { timeout: 3_600_000 };

const UTTERANCE: Utterance = { thoughts: [], text: 'Hi.', calls: [] };

/** Prices of a token in nano-dollars, which are thousandths of USD per million. */
const price = fc.nat(100_000);
const prices = fc.record({ fresh: price, read: price, written: price, writtenForHour: price, output: price });
type Prices = typeof prices extends fc.Arbitrary<infer Value> ? Value : never;

const counts = fc.record({
  fresh: fc.integer({ min: 1, max: 400_000 }),
  read: fc.nat(400_000),
  written: fc.nat(400_000),
  writtenForHour: fc.nat(400_000),
  reasoning: fc.nat(100_000),
  output: fc.integer({ min: 1, max: 100_000 }),
});

const pricing = ({ fresh, read, written, writtenForHour, output }: Prices) => ({
  input: fresh / 1_000,
  cacheInput: read / 1_000,
  cacheWrite: written / 1_000,
  cacheWriteHour: writtenForHour / 1_000,
  output: output / 1_000,
});

function modelAt(base: Prices, extended: Prices, { threshold, markup }: Terms): Model {
  const prices = { ...pricing(base), extended: { contextTokenThreshold: threshold, ...pricing(extended) } };
  const file = CatalogEntry.parse({
    id: 'm',
    name: 'M',
    contextTokens: 4_000_000,
    maxCompletionTokens: 400_000,
    ...(markup === undefined ? { pricing: prices } : { providerPricing: prices, markup }),
  }) as CatalogModel;
  const [model] = new Catalog({ models: [file], tiers: {}, extras: {} }).text.list;
  if (!model) throw new Error('no model');
  return model;
}

interface Terms {
  readonly threshold: number;
  readonly markup?: number;
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, nano) => total + nano, 0n);

/** The price of each token once: what a bill of the provider says at these prices. */
const billOf = (
  at: Prices,
  { fresh, read, written, writtenForHour, reasoning, output }: TrueCounts,
): bigint =>
  BigInt(fresh) * BigInt(at.fresh) +
  BigInt(read) * BigInt(at.read) +
  BigInt(written) * BigInt(at.written) +
  BigInt(writtenForHour) * BigInt(at.writtenForHour) +
  BigInt(reasoning + output) * BigInt(at.output);

describe.each(Object.entries(CHAT_FORMS))('a response of %s', (_name, { form, backend: { kind } }) => {
  it(
    'costs each token of its usage once, at the price of its kind and of the length of its prompt',
    LONG,
    async () => {
      const property = fc.asyncProperty(
        fc.record({ base: prices, long: prices, threshold: fc.integer({ min: 1, max: 1_000_000 }) }),
        counts,
        fc.boolean(),
        async ({ base, long, threshold }, all, isStream) => {
          const own = countsFor(form, all);
          const usage = form.usage(own);
          const { usage: read } = await (isStream
            ? readStream(kind, [form.stream(UTTERANCE, usage)])
            : readWhole(kind, form.whole(UTTERANCE, usage)));
          const lines = priceUsage(modelAt(base, long, { threshold }), read as Usage);
          const prompt = own.fresh + own.read + own.written + own.writtenForHour;
          const bill = billOf(prompt > threshold ? long : base, own);
          expect(sum(lines.map(({ amountNano }) => amountNano))).toBe(bill);
          const marked = priceUsage(modelAt(base, long, { threshold, markup: 1.175 }), read as Usage);
          expect(sum(marked.map(({ providerNano = -1n }) => providerNano))).toBe(bill);
          for (const { amountNano, providerNano = 0n } of marked)
            expect(amountNano).toBe((providerNano * 1_175n + 999n) / 1_000n);
        },
      );
      await fc.assert(property, { numRuns: repeats('PRICED_USAGES') });
    },
  );
});
