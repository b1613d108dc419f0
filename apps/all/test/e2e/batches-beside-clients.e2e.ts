import { isLong, repeats } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BatchClient, chatLine, linesText } from '../batch-client.js';
import { Platform, type TestAccount } from '../platform.js';

const ROUNDS = repeats('ROUNDS_BESIDE_BATCH');
const CALLS = 25;
const LINES = 4_000;

/** How long the model takes to its first token. */
const FIRST_TOKEN_MS = 60;

/** How much later a first token may come beside a batch, in the same run. */
const FACTOR = 1.5;

/** The slowest of a few are slow for reasons of the machine. */
const SHARE = isLong ? 0.95 : 0.5;

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start({ hasOwnProcess: true });
  account = await platform.account('1000.00');
});
afterAll(() => platform.stop());

const body = (more: object): object => ({
  model: 'test-model',
  max_tokens: 8,
  messages: [{ role: 'user', content: `hi [[sim ttft-ms=${FIRST_TOKEN_MS}]]` }],
  ...more,
});

/** How long the first token of a stream takes, in milliseconds. */
async function firstTokenMs(): Promise<number> {
  const sinceMs = performance.now();
  const response = await fetch(`${platform.apiUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body({ stream: true })),
  });
  const reader = response.body?.getReader();
  await reader?.read();
  const tookMs = performance.now() - sinceMs;
  while ((await reader?.read())?.done === false);
  return tookMs;
}

async function called(): Promise<number[]> {
  const times: number[] = [];
  for (let call = 1; call <= CALLS; call += 1) times.push(await firstTokenMs());
  return times;
}

const at = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? Number.NaN;

it(
  'gives clients their first tokens beside a full batch about as soon as without one',
  { timeout: 60_000 + ROUNDS * 60_000 },
  async () => {
    const client = new BatchClient(platform, account.apiKey);
    const lines = Array.from({ length: LINES }, (_, line) => chatLine(String(line), body({})));
    const file = await client.upload(linesText(...lines));
    await called();
    const alone: number[] = [];
    const beside: number[] = [];
    let cancelledMs = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      alone.push(...(await called()));
      const batch = await client.openai.batches.create({
        input_file_id: file,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 16);
      beside.push(...(await called()));
      expect(await client.read(batch)).toMatchObject({ status: 'in_progress' });
      const sinceMs = performance.now();
      await client.openai.batches.cancel(batch.id);
      expect(await client.ended(batch)).toMatchObject({ status: 'cancelled' });
      cancelledMs = Math.max(cancelledMs, performance.now() - sinceMs);
    }
    const measured = [0.5, 0.95, 0.99].map((share) => ({
      share,
      aloneMs: at(alone, share),
      besideMs: at(beside, share),
    }));
    process.stdout.write(`first tokens: ${JSON.stringify(measured)}; cancelled within ${cancelledMs} ms\n`);
    expect(at(beside, SHARE)).toBeLessThan(FACTOR * at(alone, SHARE));
  },
);
