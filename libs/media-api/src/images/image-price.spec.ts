import { CatalogFile, type CatalogImageModel, IMAGE_QUALITIES } from '@svc/contracts/catalog';
import type { ChargeLine } from '@svc/contracts/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editLines, imageLines } from './image-price.js';

const RESOLUTIONS = ['1K', '2K', '4K'] as const;

const usd = fc.integer({ min: 0, max: 2_000_000 }).map((micro) => micro / 1e6);
const some = <Name extends string>(names: readonly Name[]) =>
  fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 });

/** A model as a catalogue might have it, with or without all prices. */
const model = fc
  .record({ resolutions: fc.option(some(RESOLUTIONS)), qualities: fc.option(some(IMAGE_QUALITIES)) })
  .chain(({ resolutions, qualities }) =>
    fc.record({
      constraints: fc.constant({
        ...(resolutions && { resolutions }),
        ...(qualities && { qualities }),
      }),
      pricing: fc.record(
        {
          generation: usd,
          resolutions: fc.dictionary(fc.constantFrom(...(resolutions ?? RESOLUTIONS)), usd),
          quality: fc.dictionary(
            fc.constantFrom(...(resolutions ?? RESOLUTIONS)),
            fc.dictionary(fc.constantFrom(...IMAGE_QUALITIES), usd),
          ),
        },
        { requiredKeys: [] },
      ),
    }),
  );

function loaded(fields: object): CatalogImageModel | undefined {
  const backends = [{ url: 'http://127.0.0.1:1/v1', model: 'm' }];
  const entry = { id: 'p', name: 'P', type: 'image', tier: 'S', backends, ...fields };
  const tiers = { S: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } };
  const read = CatalogFile.safeParse({ models: [entry], tiers });
  const [found] = read.data?.models ?? [];
  return found?.type === 'image' ? found : undefined;
}

const sumNano = (lines: readonly ChargeLine[]): bigint =>
  lines.reduce((sum, { amountNano }) => sum + amountNano, 0n);
const costOf = (...price: Parameters<typeof imageLines>): bigint => sumNano(imageLines(...price));

describe('the price of images', () => {
  it('exists for all that a loaded model offers, and never falls with the number', () => {
    fc.assert(
      fc.property(model, fc.integer({ min: 0, max: 9 }), (fields, count) => {
        const painter = loaded(fields);
        if (!painter) return;
        for (const resolution of painter.constraints.resolutions ?? [undefined])
          for (const quality of [undefined, ...(painter.constraints.qualities ?? [])]) {
            const tier = { resolution, quality };
            expect(costOf(painter, tier, count)).toBe(costOf(painter, tier, 1) * BigInt(count));
            expect(costOf(painter, tier, count + 1)).toBeGreaterThanOrEqual(costOf(painter, tier, count));
          }
      }),
    );
  });

  it('grows with the further images of an edit, and for each of its results', () => {
    const extra = fc.record({ included: fc.nat(16), additional: usd });
    fc.assert(
      fc.property(
        usd,
        fc.option(extra),
        fc.tuple(fc.nat(16), fc.nat(9)),
        (inpaint, inputImages, [images, count]) => {
          const editor = { id: 'e', pricing: { inpaint, ...(inputImages && { inputImages }) } };
          const edit = (from: number, results: number): bigint =>
            sumNano(editLines(editor, { sources: from }, results));
          expect(edit(images, count)).toBe(edit(images, 1) * BigInt(count));
          expect(edit(images + 1, count)).toBeGreaterThanOrEqual(edit(images, count));
          const further = Math.max(0, images - (inputImages?.included ?? images));
          const eachNano =
            Math.round(inpaint * 1e9) + further * Math.round((inputImages?.additional ?? 0) * 1e9);
          expect(Number(edit(images, count))).toBe(eachNano * count);
        },
      ),
    );
  });

  it('is that of the quality, then of the resolution, then of all images', () => {
    const painter = loaded({
      constraints: { resolutions: ['1K', '2K', '4K'], qualities: ['low', 'high'] },
      pricing: {
        generation: 0.01,
        resolutions: { '2K': 0.02, '4K': 0.04 },
        quality: { '4K': { high: 0.83 } },
      },
    });
    if (!painter) throw new Error('the model does not load');
    const lineOf = (tier: Parameters<typeof imageLines>[1]) => imageLines(painter, tier, 2)[0];
    expect(lineOf({ resolution: '1K' })).toMatchObject({ sku: 'p-image-1K-unit', amountNano: 20_000_000n });
    expect(lineOf({ resolution: '4K', quality: 'low' })).toMatchObject({ amountNano: 80_000_000n });
    expect(lineOf({ resolution: '4K', quality: 'high' })).toEqual({
      sku: 'p-image-4K-high-unit',
      unit: 'image',
      units: 2,
      priceNanoPerMillion: 830_000_000_000_000n,
      amountNano: 1_660_000_000n,
    });
  });

  it.each([
    [{}, {}],
    [{ resolutions: ['1K', '2K'] }, { resolutions: { '1K': 0.01 } }],
    [{ resolutions: ['1K'], qualities: ['low'] }, { quality: { '1K': { low: 0.01 } } }],
    [{ resolutions: ['1K'] }, { generation: 1, resolutions: { '2K': 1 } }],
    [{}, { generation: 1, quality: { '1K': { low: 1 } } }],
    [{ resolutions: ['1K'], defaultResolution: '2K' }, { generation: 1 }],
    [{ aspectRatios: ['1:1'], defaultAspectRatio: '16:9' }, { generation: 1 }],
    [{ steps: { default: 9, max: 8 } }, { generation: 1 }],
  ])('is missing or wrong in a model that does not load: %j %j', (constraints, pricing) => {
    expect(loaded({ constraints, pricing })).toBeUndefined();
  });
});
