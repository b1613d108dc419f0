import { z } from 'zod';
import { usdNumber, usdToNano } from '../money/money.js';
import { PriceFactor, tieredNano } from './price-tiers.js';

const Usd = z.number().nonnegative().max(1_000_000);

const Rates = {
  input: Usd,
  output: Usd,
  cacheInput: Usd.optional(),
  cacheWrite: Usd.optional(),
  /** Of tokens that are written to a cache for an hour instead of minutes. Default: `cacheWrite`. */
  cacheWriteHour: Usd.optional(),
};

/** USD per million tokens. */
export const TokenPrices = z.strictObject({
  ...Rates,
  /** Above this number of prompt tokens, these rates apply to the whole request. */
  extended: z.strictObject({ contextTokenThreshold: z.int().positive(), ...Rates }).optional(),
});

type TokenPrices = z.infer<typeof TokenPrices>;

/** For a model whose price is that of its provider times a factor. */
export const markupFields = {
  /** What the provider takes. */
  providerPricing: TokenPrices.optional(),
  /** The price is the provider's times this, rounded up to a nano-dollar per million tokens. */
  markup: PriceFactor.optional(),
};

const RATES = Object.keys(Rates) as readonly (keyof typeof Rates)[];

function marked<Priced extends Pick<TokenPrices, keyof typeof Rates>>(
  prices: Priced,
  markup: number,
): Priced {
  const changed = { ...prices };
  for (const name of RATES) {
    const usd = prices[name];
    if (usd !== undefined)
      Object.assign(changed, { [name]: usdNumber(tieredNano(usdToNano(usd), { priceFactor: markup })) });
  }
  return changed;
}

const pricesWith = (provider: TokenPrices, markup: number): TokenPrices => ({
  ...marked(provider, markup),
  ...(provider.extended && { extended: marked(provider.extended, markup) }),
});

/** An entry of the catalogue with the prices that follow from its provider's, if it has none of its own. */
export function withMarkup(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (entry['pricing'] !== undefined) return entry;
  const provider = TokenPrices.safeParse(entry['providerPricing']);
  const markup = PriceFactor.safeParse(entry['markup']);
  if (!provider.success || !markup.success) return entry;
  return { ...entry, pricing: pricesWith(provider.data, markup.data) };
}

interface MarkedUp {
  readonly pricing: TokenPrices;
  readonly providerPricing?: TokenPrices | undefined;
  readonly markup?: number | undefined;
}

interface Faults {
  addIssue(issue: { code: 'custom'; path: string[]; message: string }): void;
}

/** A provider's prices and a factor come together, and are then the only prices. */
export function checkMarkup({ pricing, providerPricing, markup }: MarkedUp, faults: Faults): void {
  const report = (name: string, message: string): void =>
    faults.addIssue({ code: 'custom', path: [name], message });
  if (providerPricing === undefined && markup === undefined) return;
  if (markup === undefined) report('markup', 'must be set beside `providerPricing`');
  else if (providerPricing === undefined) report('providerPricing', 'must be set beside `markup`');
  else if (JSON.stringify(TokenPrices.parse(pricesWith(providerPricing, markup))) !== JSON.stringify(pricing))
    report('pricing', 'must be left out beside `providerPricing` and `markup`');
}
