import { z } from 'zod';
import { SERVICE_TIERS } from '../money/units.js';

/**
 * The bands of calls that wait for a full backend: those of the first are served before those of the second,
 * which keeps a share so that none waits forever.
 */
export const BANDS = ['interactive', 'background'] as const;
export type Band = (typeof BANDS)[number];

/** Prices are whole nano-dollars per million tokens, so a factor has few decimals. */
const DECIMALS = 1_000;

const hasFewDecimals = (factor: number): boolean =>
  Math.abs(Math.round(factor * DECIMALS) - factor * DECIMALS) < 1e-9;

/** What a price is multiplied with. */
export const PriceFactor = z
  .number()
  .positive()
  .max(100)
  .refine(hasFewDecimals, 'must have at most three decimals');

const Weight = z.number().min(0.1).max(100);

/** A tier of service: what its tokens cost compared to the model's prices, and how its requests wait. */
const tier = (usual: { readonly band: (typeof BANDS)[number]; readonly weight: number }) =>
  z.strictObject({
    priceFactor: PriceFactor,
    /** Whether its requests wait before or behind others for a server that is full. */
    band: z.enum(BANDS).default(usual.band),
    /** The share of an account's requests among those that wait, compared to the default tier. */
    weight: Weight.default(usual.weight),
  });

/** The tiers of a model beside the default one. */
export const ServiceTiers = z.strictObject({
  flex: tier({ band: 'background', weight: 1 }).optional(),
  priority: tier({ band: 'interactive', weight: 4 }).optional(),
  /** Of lines of batches. Requests cannot ask for it. */
  batch: tier({ band: 'background', weight: 1 }).optional(),
} satisfies Record<(typeof SERVICE_TIERS)[number], z.ZodType>);

/** An amount per million tokens in a tier, rounded up. */
export function tieredNano(
  nanoPerMillion: bigint,
  { priceFactor }: { readonly priceFactor: number },
): bigint {
  const thousandths = BigInt(Math.round(priceFactor * DECIMALS));
  return (nanoPerMillion * thousandths + BigInt(DECIMALS) - 1n) / BigInt(DECIMALS);
}
