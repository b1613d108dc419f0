import { type Balances, type ChargeLine, type Usage, tokensCostNano } from '@svc/contracts';
import type { Model, Rates } from '@svc/runtime';

/** The rates that hold for a whole request with this many prompt tokens. */
function ratesFor(model: Model, promptTokens: number): Rates {
  return model.extended && promptTokens > model.extended.thresholdTokens ? model.extended.rates : model.rates;
}

/**
 * What a usage costs, line by line. Cached and cache-written tokens are part of the prompt tokens and have prices of
 * their own; reasoning is output. An answer without output costs nothing.
 */
export function priceUsage(model: Model, usage: Usage): ChargeLine[] {
  if (usage.completionTokens === 0) return [];
  const rates = ratesFor(model, usage.promptTokens);
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens, usage.promptTokens - cached);
  return [
    line(`${model.id}-llm-input-mtoken`, usage.promptTokens - cached - written, rates.inputNano),
    line(`${model.id}-llm-cache-input-mtoken`, cached, rates.cacheInputNano),
    line(`${model.id}-llm-cache-write-mtoken`, written, rates.cacheWriteNano),
    line(`${model.id}-llm-output-mtoken`, usage.completionTokens, rates.outputNano),
  ].filter(({ units }) => units > 0);
}

function line(sku: string, units: number, priceNanoPerMillion: bigint): ChargeLine {
  return { sku, units, priceNanoPerMillion, amountNano: tokensCostNano(units, priceNanoPerMillion) };
}

/** What a prompt and so many output tokens can cost at the most. */
export function costAtMostNano(model: Model, promptTokens: number, outputTokens: number): bigint {
  const { outputNano } = ratesFor(model, promptTokens);
  return promptAtMostNano(model, promptTokens) + tokensCostNano(outputTokens, outputNano);
}

/** The most output tokens that an amount pays for beside a prompt. */
export function tokensWithin(model: Model, promptTokens: number, amountNano: bigint): number {
  const { outputNano } = ratesFor(model, promptTokens);
  const left = amountNano - promptAtMostNano(model, promptTokens);
  if (left < 0n) return 0;
  return outputNano === 0n ? Number.MAX_SAFE_INTEGER : Number((left * 1_000_000n) / outputNano);
}

function promptAtMostNano(model: Model, promptTokens: number): bigint {
  const { inputNano, cacheInputNano, cacheWriteNano } = ratesFor(model, promptTokens);
  const dearest = [cacheInputNano, cacheWriteNano].reduce(
    (most, rate) => (rate > most ? rate : most),
    inputNano,
  );
  return tokensCostNano(promptTokens, dearest);
}

/** A total as what a hold can pay of it, DIEM first, and what is beyond it. */
export function payFrom(held: Balances, total: bigint): { cost: Balances; writeOffNano: bigint } {
  const diemNano = total < held.diemNano ? total : held.diemNano;
  const rest = total - diemNano;
  const usdNano = rest < held.usdNano ? rest : held.usdNano;
  return { cost: { usdNano, diemNano }, writeOffNano: rest - usdNano };
}
