import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import type { ChargeLine } from '@svc/contracts/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planUpscale } from './change-plan.js';

const CALLER = { accountId: 'a', keyId: 'k', tier: 'standard', paid: true, modelPrivacy: 'ALL' } as Caller;
const IMAGE = { bytes: Buffer.from('x') };
const PIXELS_AT_MOST = 16_777_216;

const fileOf = (upscale: object): object => ({
  models: [{ id: 'enlarger', name: 'Enlarger', type: 'upscale', traits: ['default'], pricing: { upscale } }],
  tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
});

const sumNano = (lines: readonly ChargeLine[]): bigint =>
  lines.reduce((sum, { amountNano }) => sum + amountNano, 0n);

const side = fc.integer({ min: 64, max: 4_000 });
const scale = fc.double({ min: 2, max: 4, noNaN: true });
const prices = fc
  .tuple(fc.nat(1_000_000), fc.nat(1_000_000))
  .map(([double, more]) => ({ '2x': double / 1e6, '4x': (double + more) / 1e6 }));

describe('the price of an enlarged image', () => {
  it('is the hold unless the scale is reduced, never more, and never falls with the scale', () => {
    fc.assert(
      fc.property(
        prices,
        fc.tuple(side, side),
        fc.tuple(scale, scale),
        (upscale, [width, height], scales) => {
          const catalog = new Catalog(CatalogFile.parse(fileOf(upscale)));
          const costs = scales
            .toSorted((a, b) => a - b)
            .map((wanted) => {
              const plan = planUpscale({ image: IMAGE, scale: wanted }, CALLER, catalog);
              const file = { name: 'f', type: 'image/png', bytes: IMAGE.bytes };
              const { work, lines } = plan.orderFor({ width, height, file });
              const { order } = work;
              if (!('factor' in order) || order.factor === undefined || !lines) throw new Error('no factor');
              const [hold, charge] = [sumNano(plan.lines(1)), sumNano(lines(1))];
              expect(order.factor ** 2 * width * height).toBeLessThanOrEqual(PIXELS_AT_MOST);
              const isReduced = order.factor < wanted;
              expect(charge).toBeGreaterThanOrEqual(isReduced ? 0n : hold);
              expect(charge).toBeLessThanOrEqual(hold);
              return charge;
            });
          expect(Number(costs[1])).toBeGreaterThanOrEqual(Number(costs[0]));
        },
      ),
    );
  });

  it('is refused at load if four times as large costs less than twice', () => {
    const read = CatalogFile.safeParse(fileOf({ '2x': 0.08, '4x': 0.02 }));
    expect(JSON.stringify(read.error?.issues)).toContain('4x');
  });
});
