// Requests like those of a gateway to a ledger: the account, the hold, the charge.
import { randomBytes } from 'node:crypto';

const MODELS = ['llama-70b', 'qwen-32b', 'mistral-24b'];
const BACKEND = 'http://127.0.0.1:4000/v1';
/** Nano-dollars per million tokens: 0.15 USD for input and 0.60 USD for output. */
const PRICES = { input: 150_000_000n, output: 600_000_000n };
/** The initial hold of a stream of this size. */
const HELD_NANO = 500_000n;

/** All requests are for one account. */
export function hotAccount(id) {
  return () => id;
}

/** The n-th account gets 1/n of the requests of the first (Zipf, s = 1). */
export function zipfAccounts(ids) {
  const upTo = new Float64Array(ids.length);
  let sum = 0;
  for (let index = 0; index < ids.length; index += 1) upTo[index] = sum += 1 / (index + 1);
  return () => {
    const target = Math.random() * sum;
    let low = 0;
    for (let high = ids.length - 1; low < high;) {
      const middle = (low + high) >> 1;
      if (upTo[middle] < target) low = middle + 1;
      else high = middle;
    }
    return ids[low];
  };
}

const RUN = randomBytes(6).toString('hex');
let made = 0;

/** The hold before a completion. */
export function nextHold(pickAccount) {
  const accountId = pickAccount();
  const requestId = `chatcmpl-${RUN}${(made += 1).toString(16).padStart(20, '0')}`;
  return { requestId, accountId, keyId: `key-of-${accountId}`, amountNano: HELD_NANO };
}

/** The charge of the completion: two lines, with tokens that differ between requests. */
export function chargeOf({ requestId, accountId, keyId }) {
  const promptTokens = 50 + Math.floor(Math.random() * 500);
  const completionTokens = 1 + Math.floor(Math.random() * 500);
  const lines = [
    line('llama-70b-llm-input-mtoken', promptTokens, PRICES.input),
    line('llama-70b-llm-output-mtoken', completionTokens, PRICES.output),
  ];
  return {
    requestId,
    accountId,
    keyId,
    model: MODELS[promptTokens % MODELS.length],
    backend: BACKEND,
    at: new Date().toISOString(),
    usage: { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    lines,
    cost: { usdNano: lines[0].amountNano + lines[1].amountNano, diemNano: 0n },
    writeOffNano: 0n,
    durationMs: 100 + (completionTokens % 900),
  };
}

function line(sku, units, priceNanoPerMillion) {
  const amountNano = (BigInt(units) * priceNanoPerMillion + 999_999n) / 1_000_000n;
  return { sku, unit: 'token', units, priceNanoPerMillion, amountNano };
}
