import { setTimeout as sleep } from 'node:timers/promises';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BatchClient, type BatchResult, booksOf, chatLine, linesText } from '../batch-client.js';
import { Platform } from '../platform.js';

const KILLS = repeats('KILLS_OF_BATCH');
const LINES = 50 * KILLS;

/** Longer than the leases of batches and of their lines. */
const STANDSTILL_MS = 13_000;

let platform: Platform;

beforeAll(async () => (platform = await Platform.start({ hasOwnProcess: true })));
afterAll(() => platform.stop());

it(
  'a batch whose process is killed again and again has one result for each line, charged once',
  { timeout: 120_000 + KILLS * 60_000 },
  async () => {
    const { id, apiKey } = await platform.account('5.00');
    const client = new BatchClient(platform, apiKey);
    const body = { messages: [{ role: 'user', content: 'hi [[sim ttft-ms=100]]' }] };
    const lines = Array.from({ length: LINES }, (_, at) =>
      chatLine(String(at), at % 10 === 9 ? { n: 0 } : body),
    );
    const batch = await client.begin(linesText(...lines));
    let before = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // Some lines are done, others under way.
      const wanted = before + 5 + (kill % 10);
      const now = await client.until(batch, ({ request_counts: counts, status }) => {
        return status === 'completed' || (counts?.completed ?? 0) >= wanted;
      });
      before = now.request_counts?.completed ?? 0;
      await sleep(Math.random() * 100);
      await platform.kill();
      await platform.restart();
    }
    const end = await client.ended(batch, 120_000);
    const results = [
      ...(await client.resultsIn(end.output_file_id)),
      ...(await client.resultsIn(end.error_file_id)),
    ];
    expect(results).toHaveLength(LINES);
    expect(new Set(results.map(({ custom_id: each }) => each)).size).toBe(LINES);
    const made = results.filter(({ response }) => response?.status_code === 200);
    expect(made).toHaveLength((LINES * 9) / 10);
    await expectCharges(id, made);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  },
);

it('a batch that is cancelled after its process was killed has a result for each line that is charged', async () => {
  const { id, apiKey } = await platform.account('5.00');
  const client = new BatchClient(platform, apiKey);
  const body = { messages: [{ role: 'user', content: 'hi [[sim ttft-ms=100]]' }] };
  const lines = Array.from({ length: 500 }, (_, at) => chatLine(String(at), body));
  const batch = await client.begin(linesText(...lines));
  await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 20);
  await sleep(Math.random() * 100);
  await platform.kill();
  await platform.restart();
  await client.openai.batches.cancel(batch.id);
  const end = await client.ended(batch, 120_000);
  expect(end.status).toBe('cancelled');
  const made = await client.resultsIn(end.output_file_id);
  expect(made.length).toBeLessThan(500);
  await expectCharges(id, made);
});

it('a batch whose process stands still for longer than its lease has one result for each line', async () => {
  const { id, apiKey } = await platform.account('5.00');
  const client = new BatchClient(platform, apiKey);
  const body = { messages: [{ role: 'user', content: 'hi [[sim ttft-ms=100]]' }] };
  const lines = Array.from({ length: 200 }, (_, at) => chatLine(String(at), body));
  const batch = await client.begin(linesText(...lines));
  await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 20);
  const { pid } = platform.service;
  process.kill(pid, 'SIGSTOP');
  await sleep(STANDSTILL_MS);
  process.kill(pid, 'SIGCONT');
  const end = await client.ended(batch, 120_000);
  expect(end.request_counts).toEqual({ total: 200, completed: 200, failed: 0 });
  const results = await client.resultsIn(end.output_file_id);
  expect(new Set(results.map(({ custom_id: each }) => each)).size).toBe(200);
  await expectCharges(id, results);
});

/** Expects the charges of these responses in the books of an account, and no others. */
async function expectCharges(accountId: string, results: readonly BatchResult[]): Promise<void> {
  const books = await booksOf(accountId, results, () => platform);
  expect(books.charges).toEqual(books.ended);
}
