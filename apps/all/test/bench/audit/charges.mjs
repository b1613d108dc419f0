// The charges of a platform's month, derived from a counter, so that every run has the same.

const DAYS = 30;
const ACCOUNTS = 1_000;
const MODELS = ['llama-3.2-3b', 'mistral-31-24b', 'qwen3-235b', 'deepseek-r1-671b', 'venice-uncensored'];
const PRICES = [150_000_000n, 500_000_000n, 1_500_000_000n, 3_500_000_000n, 500_000_000n];
/** More than any account spends here. */
export const CREDIT_NANO = 1_000_000_000_000_000n;

export const accountIds = Array.from(
  { length: ACCOUNTS },
  (_, index) => `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
);

/** Multiplies by a large odd number: reproducible values without a relevant pattern. */
const scattered = (number, below) => ((number * 2_654_435_761) >>> 7) % below;

/** The charge with this number, of a month that ends now. It has two lines; every third charge has three. */
export function chargeOf(number, { of: count, endMs }) {
  const model = scattered(number, MODELS.length);
  const promptTokens = 50 + scattered(number, 4_000);
  const completionTokens = 10 + scattered(number + 1, 1_000);
  const cachedTokens = number % 3 === 0 ? promptTokens >> 1 : 0;
  const lines = [
    lineOf('input', promptTokens - cachedTokens, PRICES[model]),
    ...(cachedTokens > 0 ? [lineOf('cache-input', cachedTokens, PRICES[model] / 2n)] : []),
    lineOf('output', completionTokens, PRICES[model] * 3n),
  ].map((line) => ({ ...line, sku: `${MODELS[model]}-llm-${line.sku}-mtoken` }));
  const usdNano = lines.reduce((sum, { amountNano }) => sum + amountNano, 0n);
  const account = scattered(number, ACCOUNTS);
  const atMs = Math.round(endMs - ((count - number) / count) * DAYS * 86_400_000);
  return {
    requestId: `chatcmpl-${idOf(number, atMs)}`,
    accountId: accountIds[account],
    keyId: `key-${account}-${number % 2}`,
    model: MODELS[model],
    backend: 'http://127.0.0.1:4000/v1',
    at: new Date(atMs).toISOString(),
    usage: { promptTokens, completionTokens, cachedTokens, cacheWriteTokens: 0, reasoningTokens: 0 },
    lines,
    cost: { usdNano, diemNano: 0n },
    writeOffNano: 0n,
    durationMs: 900,
  };
}

/** Ids like the gateway's: first the time, then a unique part. */
function idOf(number, atMs) {
  const rest = scattered(number, 2 ** 24)
    .toString(16)
    .padStart(6, '0');
  return `${atMs.toString(16).padStart(12, '0')}7${rest}${number.toString(16).padStart(13, '0')}`;
}

function lineOf(sku, units, priceNanoPerMillion) {
  const amountNano = (BigInt(units) * priceNanoPerMillion + 999_999n) / 1_000_000n;
  return { sku, unit: 'token', units, priceNanoPerMillion, amountNano };
}
