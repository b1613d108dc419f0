import type { Model, Rates } from '@svc/catalog';
import { type ChargeLine, type Usage, chargeLine } from '@svc/contracts/messages';
import { type TokenKind, pricedNano, tokenSku } from '@svc/contracts/money';

/** The rates for a whole request with this number of prompt tokens. */
function ratesFor(model: Model, promptTokens: number): Pick<Model, 'rates' | 'providerRates'> {
  return model.extended && promptTokens > model.extended.thresholdTokens ? model.extended : model;
}

/**
 * The charge lines of a usage. Cached and cache-written tokens are part of the prompt tokens and have their
 * own prices; reasoning counts as output. A response without output costs nothing.
 */
export function priceUsage(model: Model, usage: Usage): ChargeLine[] {
  if (usage.completionTokens === 0) return [];
  const { rates, providerRates: provider } = ratesFor(model, usage.promptTokens);
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens, usage.promptTokens - cached);
  const isOnePrice =
    written === 0 || [rates, provider].every((each) => each?.cacheWriteHourNano === each?.cacheWriteNano);
  const forHour = isOnePrice ? 0 : Math.min(usage.hourCacheWriteTokens ?? 0, written);
  const lines: ChargeLine[] = [];
  const add = (kind: TokenKind, units: number, rate: keyof Rates): void => {
    if (units === 0) return;
    const price = {
      sku: tokenSku(model.id, kind, model.soldTier?.name),
      unit: 'token',
      priceNanoPerMillion: rates[rate],
      providerNanoPerMillion: provider?.[rate],
    } as const;
    lines.push(chargeLine(price, units));
  };
  add('input', usage.promptTokens - cached - written, 'inputNano');
  add('cacheRead', cached, 'cacheInputNano');
  add('cacheWrite', written - forHour, 'cacheWriteNano');
  add('cacheWrite', forHour, 'cacheWriteHourNano');
  add('output', usage.completionTokens, 'outputNano');
  return lines;
}

/** The charge lines of several backend calls of one request: each at its own rates, merged by price. */
export function priceUsages(model: Model, usages: readonly Usage[]): ChargeLine[] {
  const [only] = usages;
  if (only && usages.length === 1) return priceUsage(model, only);
  const lines: ChargeLine[] = [];
  for (const next of usages.flatMap((usage) => priceUsage(model, usage))) {
    const at = lines.findIndex(
      ({ sku, priceNanoPerMillion }) => sku === next.sku && priceNanoPerMillion === next.priceNanoPerMillion,
    );
    const known = lines[at];
    if (known) lines[at] = mergedLine(known, next);
    else lines.push(next);
  }
  return lines;
}

/**
 * The total usage of several backend calls of one request. Calls without output are not charged, so they are
 * left out.
 */
export function totalUsage(usages: readonly Usage[]): Usage {
  const [only] = usages;
  if (only && usages.length === 1) return only;
  const sum = (of: (usage: Usage) => number): number =>
    usages.reduce((total, usage) => total + (usage.completionTokens > 0 ? of(usage) : 0), 0);
  return {
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    hourCacheWriteTokens: sum(({ hourCacheWriteTokens = 0 }) => hourCacheWriteTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
  };
}

/** A line for the units of two of the same price. The provider's bill has each call by itself. */
function mergedLine(
  { sku, units, priceNanoPerMillion, providerNano }: ChargeLine,
  next: ChargeLine,
): ChargeLine {
  const merged = chargeLine({ sku, unit: 'token', priceNanoPerMillion }, units + next.units);
  return providerNano === undefined
    ? merged
    : { ...merged, providerNano: providerNano + (next.providerNano ?? 0n) };
}

/** The highest possible cost of a prompt and a number of output tokens. */
export function costAtMostNano(model: Model, promptTokens: number, outputTokens: number): bigint {
  const { outputNano } = ratesFor(model, promptTokens).rates;
  return promptAtMostNano(model, promptTokens) + pricedNano(outputTokens, outputNano);
}

/** The most output tokens that an amount pays for in addition to a prompt. */
export function tokensWithin(model: Model, promptTokens: number, amountNano: bigint): number {
  const { outputNano } = ratesFor(model, promptTokens).rates;
  const left = amountNano - promptAtMostNano(model, promptTokens);
  if (left < 0n) return 0;
  return outputNano === 0n ? Number.MAX_SAFE_INTEGER : Number((left * 1_000_000n) / outputNano);
}

function promptAtMostNano(model: Model, promptTokens: number): bigint {
  return pricedNano(promptTokens, dearestOf(ratesFor(model, promptTokens).rates));
}

/** The highest price of a prompt's tokens, by rates. */
const dearest = new WeakMap<Rates, bigint>();

function dearestOf(rates: Rates): bigint {
  let highest = dearest.get(rates);
  if (highest !== undefined) return highest;
  highest = rates.inputNano;
  for (const rate of ['cacheInputNano', 'cacheWriteNano', 'cacheWriteHourNano'] as const)
    if (rates[rate] > highest) highest = rates[rate];
  dearest.set(rates, highest);
  return highest;
}
