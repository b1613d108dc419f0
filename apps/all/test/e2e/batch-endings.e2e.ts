import { isDeepStrictEqual } from 'node:util';
import { createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BatchClient, type BatchResult, booksOf, chatLine, linesText } from '../batch-client.js';
import { Platform } from '../platform.js';

let database: TestDatabase;
let pool: Pool;
let platform: Platform;

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.url, { name: 'test' });
  platform = await Platform.start({
    env: { DATABASE_URL: database.url, GATEWAY_BATCHES_AT_ONCE: '1' },
    hasOwnProcess: true,
  });
});
afterAll(async () => {
  await platform.stop();
  await pool.end();
  await database.stop();
});

const many = (count: number, body: object = {}): string =>
  linesText(...Array.from({ length: count }, (_, at) => chatLine(String(at), body)));

/** A completion whose first token takes this long. */
const lasting = (ms: number): object => ({
  messages: [{ role: 'user', content: `hi [[sim ttft-ms=${ms}]]` }],
});

describe('a batch', () => {
  it('runs as far as the money goes, and says so for each line that it does not', async () => {
    // A completion of 1,000 tokens costs 0.0006 USD.
    const { id, apiKey } = await platform.account('0.005');
    const client = new BatchClient(platform, apiKey);
    const body = { max_tokens: 1_000, messages: [{ role: 'user', content: 'hi [[sim tokens=1000]]' }] };
    const end = await client.ended(await client.begin(many(20, body)));
    expect(end.status).toBe('completed');
    const done = await client.resultsIn(end.output_file_id);
    const failed = await client.resultsIn(end.error_file_id);
    expect(done.length).toBeGreaterThanOrEqual(5);
    expect(new Set([...done, ...failed].map(({ custom_id: each }) => each)).size).toBe(20);
    expect(new Set(failed.map(({ response }) => response?.status_code))).toEqual(new Set([402]));
    const { usd } = await platform.balances(id);
    expect(Number(usd)).toBeGreaterThanOrEqual(0);
    expect(Number(usd)).toBeLessThan(0.0012);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('that is cancelled begins no further line, keeps what is done, and charges nothing else', async () => {
    const { id, apiKey } = await platform.account('5.00');
    const client = new BatchClient(platform, apiKey);
    const batch = await client.begin(many(200, lasting(200)));
    await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 8);
    expect(await client.openai.batches.cancel(batch.id)).toMatchObject({ status: 'cancelling' });
    const end = await client.ended(batch);
    expect(end.status).toBe('cancelled');
    const { completed = 0, failed } = end.request_counts ?? {};
    expect([completed >= 8, completed < 200, failed]).toEqual([true, true, 0]);
    const results = await client.resultsIn(end.output_file_id);
    expect(results).toHaveLength(completed);
    expect(await client.openai.batches.cancel(batch.id)).toMatchObject({ status: 'cancelled' });
    expect(await chargedExactly(id, results)).toBe(true);
  });

  it.each([
    ['whole', lasting(600_000)],
    [
      'long',
      { max_tokens: 100_000, messages: [{ role: 'user', content: 'hi [[sim tokens=90000 itl-ms=1000]]' }] },
    ],
  ])(
    'that is cancelled does not wait for its lines under way, whose responses are %s',
    async (_form, body) => {
      const { id, apiKey } = await platform.account('5.00');
      const client = new BatchClient(platform, apiKey);
      const first = Array.from({ length: 4 }, (_, at) => chatLine(`first ${at}`));
      const others = Array.from({ length: 20 }, (_, at) => chatLine(`other ${at}`, body));
      const batch = await client.begin(linesText(...first, ...others));
      await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 4);
      await client.openai.batches.cancel(batch.id);
      const end = await client.ended(batch, 20_000);
      expect(end).toMatchObject({
        status: 'cancelled',
        request_counts: { total: 24, completed: 4, failed: 0 },
      });
      expect(await chargedExactly(id, await client.resultsIn(end.output_file_id))).toBe(true);
    },
  );

  it('that is cancelled before it has begun does not wait for others', async () => {
    const { apiKey } = await platform.account('5.00');
    const client = new BatchClient(platform, apiKey);
    const [first, second] = [await client.begin(many(20, lasting(600_000))), await client.begin(many(20))];
    await client.until(first, ({ status }) => status === 'in_progress');
    await client.openai.batches.cancel(second.id);
    const counts = { total: 20, completed: 0, failed: 0 };
    expect(await client.ended(second)).toMatchObject({ status: 'cancelled', request_counts: counts });
    expect(await client.read(first)).toMatchObject({ status: 'in_progress' });
    await client.openai.batches.cancel(first.id);
    expect(await client.ended(first)).toMatchObject({ status: 'cancelled', request_counts: counts });
  });

  it('that expires keeps what is done, and names the lines that were not run', async () => {
    const { apiKey } = await platform.account('5.00');
    const client = new BatchClient(platform, apiKey);
    const batch = await client.begin(many(100, lasting(300)));
    await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 8);
    await pool.query('UPDATE gateway.batches SET expires_at = now() WHERE id = $1', [batch.id]);
    const end = await client.ended(batch);
    expect(end.status).toBe('expired');
    const done = await client.resultsIn(end.output_file_id);
    const failed = await client.resultsIn(end.error_file_id);
    expect(done.length + failed.length).toBe(100);
    expect(new Set(failed.map(({ error }) => error?.code))).toEqual(new Set(['batch_expired']));
    await expect(client.openai.batches.cancel(batch.id)).rejects.toMatchObject({ status: 409 });
  });

  it('whose account is suspended fails its remaining lines, and charges none of them', async () => {
    const { id, apiKey } = await platform.account('5.00');
    const client = new BatchClient(platform, apiKey);
    const batch = await client.begin(many(100, lasting(300)));
    await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 8);
    const path = `/accounts/${id}/suspension`;
    expect(await platform.operator('PUT', path, { reason: 'unpaid' })).toMatchObject({ status: 200 });
    const [row] = await ended(batch.id);
    expect(row?.failed).toBeGreaterThan(0);
    expect(await platform.operator('DELETE', path)).toMatchObject({ status: 200 });
    const end = await client.read(batch);
    const failed = await client.resultsIn(end.error_file_id);
    expect(failed.every(({ response }) => [401, 403].includes(response?.status_code ?? 0))).toBe(true);
    const done = await client.resultsIn(end.output_file_id);
    expect(done.length + failed.length).toBe(100);
    expect(await chargedExactly(id, done)).toBe(true);
  });

  it('whose key is revoked fails its remaining lines', async () => {
    const { id, apiKey } = await platform.account('5.00');
    const client = new BatchClient(platform, apiKey);
    const batch = await client.begin(many(100, lasting(300)));
    await client.until(batch, ({ request_counts: counts }) => (counts?.completed ?? 0) >= 8);
    const keys = await platform.operator('GET', `/api_keys?accountId=${id}`);
    const [key] = keys.body['data'] as { id: string }[];
    expect(await platform.operator('DELETE', `/api_keys/${key?.id ?? ''}`)).toMatchObject({ status: 200 });
    const [row] = await ended(batch.id);
    expect(row).toMatchObject({ state: 'completed', lines: 100 });
    const { completed = 0, failed = 0 } = row ?? {};
    expect([completed >= 8, failed > 0, completed + failed]).toEqual([true, true, 100]);
  });
});

/** Whether the books of an account have the charges of these responses, and no others. */
async function chargedExactly(accountId: string, results: readonly BatchResult[]): Promise<boolean> {
  const books = await booksOf(accountId, results, () => platform);
  return isDeepStrictEqual(books.charges, books.ended);
}

interface EndedRow {
  readonly state: string;
  readonly lines: number;
  readonly completed: number;
  readonly failed: number;
}

/** Without its key, nobody reads it. */
async function ended(id: string): Promise<EndedRow[]> {
  for (;;) {
    const { rows } = await pool.query<EndedRow>(
      'SELECT state, lines, completed, failed FROM gateway.batches WHERE id = $1 AND ended_at IS NOT NULL',
      [id],
    );
    if (rows.length > 0) return rows;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
