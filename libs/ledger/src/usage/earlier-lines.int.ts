import { randomUUID } from 'node:crypto';
import type { UsageDay } from '@svc/contracts/ports';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningLedger, chargeOf, startLedger, usd } from '../../test/testing.js';

const AT = '2026-10-07T00:00:00.000Z';
const DAY = '2026-10-07';
const INPUT = 'model-llm-input-mtoken';

/** Rows as the release before units wrote them. */
const EARLIER_ROWS = `
  WITH charge AS (
    INSERT INTO ledger.charges (request_id, at, account_id, key_id, model, backend, prompt_tokens, completion_tokens,
      cached_tokens, cache_write_tokens, reasoning_tokens, usd_nano, diem_nano, write_off_nano, duration_ms)
    VALUES ($1, $2, $3, 'key', 'model', 'b', 1, 1, 0, 0, 0, 0, 0, 0, 1)
  ), days AS (
    INSERT INTO ledger.usage_days (account_id, day, key_id, model, sku, units, usd_nano, diem_nano, usd_entries,
      diem_entries)
    VALUES ($3, '${DAY}', 'key', 'model', '${INPUT}', 1, 0, 0, 1, 0)
  )
  INSERT INTO ledger.charge_lines (request_id, at, line, sku, units, price_nano_per_million, amount_nano)
  VALUES ($1, $2, 0, '${INPUT}', 1, 0, 0), ($1, $2, 1, 'web-scrape-page', 1, 0, 0)`;

let test: TestDatabase;
let running: RunningLedger;

beforeAll(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url });
});

afterAll(async () => {
  await running?.stop();
  await test?.stop();
});

it('reads the units of lines and days without one from their SKUs', async () => {
  const accountId = randomUUID();
  const { books, database, history, poster } = running;
  await books.credit({ accountId, usdNano: usd(1), reference: 'start' });
  // Posting creates the month of the rows.
  const line = { sku: INPUT, unit: 'token', units: 5, priceNanoPerMillion: 0n, amountNano: 0n };
  await poster.post([chargeOf(accountId, 0n, { at: '2026-10-08T00:00:00.000Z', lines: [line] })]);
  await database.query(EARLIER_ROWS, ['old', AT, accountId]);

  const { entries } = await history.page({ accountId, until: new Date('2026-10-08') }, ALL);
  expect(entries.map(({ sku, unit }) => [sku, unit])).toEqual([
    [INPUT, 'token'],
    ['web-scrape-page', 'page'],
  ]);
  expect((await books.charge('old')).lines).toMatchObject([{ unit: 'token' }, { unit: 'page' }]);
  const days = (): Promise<readonly UsageDay[]> => history.days(accountId, DAY, DAY);
  expect(await days()).toMatchObject([{ sku: INPUT, unit: 'token', units: 1n }]);
  await poster.post([chargeOf(accountId, 0n, { at: AT, lines: [line] })]);
  expect(await days()).toMatchObject([{ sku: INPUT, unit: 'token', units: 6n }]);
});

const ALL = { limit: 10, page: 1, order: 'asc' } as const;
