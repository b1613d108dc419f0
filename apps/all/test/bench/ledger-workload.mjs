// Requests as a gateway would bring them to a ledger: which account, what is held, what is charged.
import { randomBytes } from 'node:crypto';

const MODELS = ['llama-70b', 'qwen-32b', 'mistral-24b'];
const BACKEND = 'http://127.0.0.1:4000/v1';
/** Nano-dollars per million tokens: 0.15 USD for input and 0.60 USD for output. */
const PRICES = { input: 150_000_000n, output: 600_000_000n };
/** What a stream of this size holds at first. */
const HELD_NANO = 500_000n;

/** One account has every request. */
export function hotAccount(id) {
  return () => id;
}

/** The n-th account has a share of 1/n of what the first has (Zipf, s = 1). */
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

/** What is asked of the ledger before an answer. */
export function nextHold(pickAccount) {
  const accountId = pickAccount();
  const requestId = `chatcmpl-${RUN}${(made += 1).toString(16).padStart(20, '0')}`;
  return { requestId, accountId, keyId: `key-of-${accountId}`, amountNano: HELD_NANO };
}

/** What the answer costs: two lines, of tokens that differ from request to request. */
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
  return { sku, units, priceNanoPerMillion, amountNano };
}
