import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Charge } from '@svc/contracts/messages';
import type { UsageEntry } from '@svc/contracts/ports';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { repeats } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MonthToClose, closeMonth } from './close-month.js';
import { ClosingStore } from './closing.store.js';
import { Month } from './month.js';
import { exportMonth } from './month-files.store.js';
import { MonthFolder } from './month-place.js';
import { SnapshotStore } from '../usage/snapshot.store.js';
import { HistoryFixture } from '../../test/history-fixture.js';
import { planOf } from '../../test/history-steps.js';
import { type RunningLedger, chargeOf, grantDiem, startLedger, usd } from '../../test/testing.js';

const MONTH = '2026-03';
let test: TestDatabase;
let running: RunningLedger;
let folder: string;

beforeEach(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url });
  folder = await mkdtemp(join(tmpdir(), 'svc-closing-'));
});

afterEach(async () => {
  await running.stop();
  await test.stop();
  await rm(folder, { recursive: true });
});

const close = (more: Partial<MonthToClose> = {}) =>
  closeMonth({ url: test.url, month: MONTH, place: new MonthFolder(folder), afterDays: 90, ...more });

async function account(): Promise<string> {
  const accountId = randomUUID();
  await running.books.credit({ accountId, usdNano: usd(100), reference: 'start' });
  await grantDiem(running.database, accountId, usd(1));
  return accountId;
}

/** A charge of March with two lines, which is paid in both currencies and partly written off. */
function marchCharge(accountId: string, number: number): Charge {
  const day = String(1 + (number % 31)).padStart(2, '0');
  const [usdNano, diemNano, writeOffNano] = [BigInt(number % 5), BigInt(number % 3), BigInt(number % 2)];
  const amountNano = usdNano + diemNano + writeOffNano;
  const line = { unit: 'token', units: number, ...(number % 5 > 0 && { providerNano: BigInt(number) }) };
  return chargeOf(accountId, 0n, {
    at: `${MONTH}-${day}T${String(number % 24).padStart(2, '0')}:59:59.999Z`,
    keyId: `key-${number % 2}`,
    model: `model-${number % 3}`,
    cost: { usdNano, diemNano },
    writeOffNano,
    lines: [
      { ...line, sku: 'input', priceNanoPerMillion: BigInt(number % 2), amountNano: amountNano / 2n },
      { ...line, sku: 'output', priceNanoPerMillion: 7n, amountNano: amountNano - amountNano / 2n },
    ],
  });
}

const marchCharges = (accountIds: readonly string[], count = 300): Charge[] =>
  Array.from({ length: count }, (_, number) =>
    marchCharge(accountIds[number % accountIds.length] ?? '', number),
  );

/** Everything that closing a month must not change. */
async function books() {
  const { accounting, database } = running;
  const ids = await database.query<{ id: string }>('SELECT id FROM ledger.accounts ORDER BY id LIMIT 3');
  return {
    month: await accounting.month(MONTH),
    statements: await Promise.all(ids.map(({ id }) => accounting.statement(id, MONTH))),
    accounts: await database.query('SELECT * FROM ledger.accounts ORDER BY id'),
    days: await database.query(
      `SELECT account_id, day::TEXT, key_id, model, sku, unit, units, usd_nano, diem_nano FROM ledger.usage_days
       ORDER BY account_id, day, key_id, model, sku`,
    ),
    transfers: await database.query(
      `SELECT account_id, date_trunc('month', at, 'UTC') AS month, kind, debit_account, credit_account, currency,
         sum(amount_nano) FROM ledger.transfers GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`,
    ),
    charges: await database.query(
      `SELECT account_id, date_trunc('day', at, 'UTC') AS day, key_id, model, sum(usd_nano), sum(diem_nano),
         sum(write_off_nano), sum(prompt_tokens), sum(completion_tokens) FROM ledger.charges
       GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    ),
    references: await database.query('SELECT * FROM ledger.transfer_references ORDER BY transfer_id'),
    refunds: await database.query('SELECT * FROM ledger.refunds ORDER BY id'),
  };
}

/** The state of closing March after its export. */
async function exported() {
  const month = new Month(MONTH);
  const database = new Database(createPool(test.url, { name: 'test' }));
  const store = new ClosingStore(database);
  await store.freeze(month);
  const totals = await store.prove(month);
  const seal = {
    ...totals,
    hashes: await exportMonth(database, month, { place: new MonthFolder(folder), totals }),
  };
  return { database, month, store, seal };
}

const marchRows = async (): Promise<bigint | undefined> => {
  const [row] = await running.database.query<{ count: bigint }>(
    `SELECT count(*) FROM ledger.charges_2026_03`,
  );
  return row?.count;
};

async function expectProved(): Promise<void> {
  for (const scope of ['new', 'whole'] as const)
    await expect(running.books.audit(scope)).resolves.toMatchObject({
      ok: true,
      mismatches: [],
      imbalanceUsdNano: 0n,
      imbalanceDiemNano: 0n,
    });
}

async function entriesOf(accountId: string): Promise<UsageEntry[]> {
  const read = (page: number) => running.history.page({ accountId }, { limit: 7, page, order: 'asc' });
  const { total } = await read(1);
  const pages = await Promise.all(
    Array.from({ length: Math.ceil(total / 7) + 1 }, (_, index) => read(index + 1)),
  );
  const entries = pages.flatMap((page) => page.entries);
  expect(entries).toHaveLength(total);
  return entries;
}

const sumOf = (entries: readonly UsageEntry[]): bigint =>
  entries.reduce((sum, { amountNano }) => sum + amountNano, 0n);

/** Resolves when a statement waits to lock whole tables. */
async function lockIsAwaited(): Promise<void> {
  const waiting = `SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted`;
  while ((await running.database.query(waiting)).length === 0);
}

describe('a closed month', () => {
  it('leaves every balance, sum, reference and refund as it was, and the audits prove the books', async () => {
    const accountIds = [await account(), await account()];
    const charges = marchCharges(accountIds);
    await running.poster.post(charges);
    const paid = charges.find(({ cost }) => cost.usdNano > 0n);
    if (!paid) throw new Error('one charge costs something');
    const refund = { accountId: paid.accountId, requestId: paid.requestId, reference: 'sorry' };
    await running.books.refund(refund);
    await running.books.audit('whole');
    const before = await books();
    const entries = await entriesOf(accountIds[0] ?? '');
    await close();
    expect(await books()).toEqual(before);
    await expectProved();
    expect(await marchRows()).toBeLessThan(300n);
    const after = await entriesOf(accountIds[0] ?? '');
    expect(sumOf(after)).toBe(sumOf(entries));
    expect(after.length).toBeLessThan(entries.length);
  });

  it('keeps the charges that were refunded, so that a refund is repeated and completed as before', async () => {
    const accountId = await account();
    const charge = chargeOf(accountId, 100n, { at: `${MONTH}-31T23:59:59.999Z` });
    await running.poster.post([charge, ...marchCharges([accountId])]);
    const part = {
      accountId,
      requestId: charge.requestId,
      reference: 'part',
      amount: { usdNano: 30n, diemNano: 0n },
    };
    const transfers = await running.books.refund(part);
    await close();
    await expect(running.books.refund(part)).resolves.toEqual(transfers);
    await expect(running.books.charge(charge.requestId)).resolves.toMatchObject({ cost: charge.cost });
    const rest = await running.books.refund({ ...part, reference: 'rest', amount: undefined });
    expect(rest).toMatchObject([{ amountNano: 70n }]);
    await expectProved();
  });

  it('refuses refunds of other charges, and charges that arrive late, which the audit reports', async () => {
    const accountId = await account();
    const [first, second] = [marchCharge(accountId, 4), marchCharge(accountId, 7)];
    await running.poster.post([first]);
    await close();
    await expect(
      running.books.refund({ accountId, requestId: first.requestId, reference: 'late' }),
    ).rejects.toMatchObject({ code: 'CHARGE_NOT_FOUND' });
    const before = await running.books.balances(accountId);
    // The first is a copy, which the books can't recognise any more.
    await running.poster.post([first, second, chargeOf(accountId, 5n)]);
    const after = await running.books.balances(accountId);
    expect(before.usdNano - after.usdNano).toBe(5n);
    const { ok, mismatches } = await running.books.audit('whole');
    expect(ok).toBe(false);
    expect(mismatches).toHaveLength(2);
    expect(mismatches[0]).toMatch(/the month 2026-03 is closed/);
  });

  it('is exported whole, in files whose hashes and totals the books keep', async () => {
    const accountIds = [await account(), await account()];
    const charges = [
      ...marchCharges(accountIds),
      chargeOf(accountIds[0] ?? '', 1n, {
        at: `${MONTH}-01T00:00:00.000Z`,
        model: 'odd, "name"\nof a model',
      }),
    ];
    await running.poster.post(charges);
    const { hashes } = await close();
    expect((await readdir(folder)).toSorted()).toEqual([
      'charge_lines.csv.gz',
      'charges.csv.gz',
      'month.json',
      'transfers.csv.gz',
    ]);
    const text = gunzipSync(await readFile(join(folder, 'charges.csv.gz'))).toString();
    for (const { requestId } of charges) expect(text).toContain(requestId);
    expect(text).toContain('"odd, ""name""\nof a model"');
    const [seal] = await running.database.query('SELECT *, month::TEXT FROM ledger.closed_months');
    expect(seal).toMatchObject({
      month: '2026-03-01',
      charges: 301n,
      charge_lines: 601n,
      usd_nano: String(charges.reduce((sum, { cost }) => sum + cost.usdNano, 0n)),
      diem_nano: String(charges.reduce((sum, { cost }) => sum + cost.diemNano, 0n)),
      write_off_nano: String(charges.reduce((sum, { writeOffNano }) => sum + writeOffNano, 0n)),
      charges_sha256: createHash('sha256').update(text).digest(),
      transfers_sha256: hashes.transfers,
    });
    await expect(running.database.query('DELETE FROM ledger.closed_months')).rejects.toThrow(/append-only/);
  });

  it('keeps deposits, so that they are reversed, repeated and listed as before', async () => {
    const accountId = randomUUID();
    const deposit = { accountId, usdNano: usd(5), reference: 'tx', rail: 'base' as const };
    await running.books.credit(deposit);
    // The test's transfers are of this month; the deposit is moved to March.
    await running.database.transaction(async (client) => {
      await client.query(
        `SELECT ledger.create_month('${MONTH}-15'); SET LOCAL session_replication_role = 'replica'`,
      );
      await client.query(`UPDATE ledger.transfers SET at = '${MONTH}-15'`);
      await client.query(`UPDATE ledger.transfer_references SET at = '${MONTH}-15'`);
    });
    const listed = await running.books.deposits({ references: ['tx'] });
    await close();
    await expect(running.books.deposits({ references: ['tx'] })).resolves.toEqual(listed);
    await expect(running.books.credit(deposit)).resolves.toEqual(listed[0]);
    await running.books.reverse({ accountId, rail: 'base', reference: 'tx' });
    await expect(running.books.balances(accountId)).resolves.toMatchObject({ usdNano: 0n });
    await expectProved();
  });
});

describe('closing a month', () => {
  it('is refused while its requests may be refunded, for months that are closed, and for unknown ones', async () => {
    await running.poster.post([marchCharge(await account(), 1)]);
    const now = new Date('2026-06-29T23:59:59Z');
    await expect(close({ now })).rejects.toThrow('2026-03 can be closed from 2026-06-30T00:00:00.000Z on');
    await expect(close({ month: '2020-01' })).rejects.toThrow('The books have no month 2020-01');
    await expect(close({ month: '2026-13' })).rejects.toThrow('The month must be like 2026-03');
    await close();
    await expect(close()).rejects.toThrow('2026-03 is closed already');
  });

  it('is refused if a charge of the month is wrong, and the month then takes charges as before', async () => {
    const accountId = await account();
    await running.poster.post([marchCharge(accountId, 4)]);
    await running.books.audit('whole');
    await running.database.transaction(async (client) => {
      await client.query(`SET LOCAL session_replication_role = 'replica'`);
      await client.query('UPDATE ledger.charge_lines SET units = units + 1');
    });
    await expect(close()).rejects.toThrow(/but its lines sum to/);
    await running.poster.post([marchCharge(accountId, 7)]);
    expect(await marchRows()).toBe(2n);
  });

  it('continues after a crash between any two of its steps', async () => {
    const accountIds = [await account(), await account()];
    await running.poster.post(marchCharges(accountIds));
    await running.books.audit('whole');
    const before = await books();
    await (await exported()).database.onApplicationShutdown();
    const { database, month, store } = await exported();
    await store.summarise(month);
    await expectProved();
    await store.summarise(month);
    await database.onApplicationShutdown();
    const seal = await close({ isExportOnly: true });
    await expect(close()).resolves.toEqual(seal);
    expect(await books()).toEqual(before);
    await expectProved();
  });

  it('takes in a refund that is made while the month is summed', async () => {
    const accountId = await account();
    const charges = marchCharges([accountId]);
    await running.poster.post(charges);
    await running.books.audit('whole');
    const { database, month, store, seal } = await exported();
    const summary = await store.summarise(month);
    const { requestId } = charges.find(({ cost }) => cost.usdNano > 0n) ?? {};
    await running.books.refund({ accountId, requestId: requestId ?? '', reference: 'meanwhile' });
    await expect(store.replace(month, seal, summary)).resolves.toBe(false);
    await expect(store.replace(month, seal, await store.summarise(month))).resolves.toBe(true);
    await database.onApplicationShutdown();
    await expectProved();
  });

  it('waits for reads that began before it, which see the month as it was', async () => {
    await running.poster.post(marchCharges([await account()]));
    await running.books.audit('whole');
    const { database, month, store, seal } = await exported();
    const summary = await store.summarise(month);
    const snapshots = running.app.get(SnapshotStore, { strict: false });
    const { seen, replaced } = await snapshots.read(async (client) => {
      const replaced = store.replace(month, seal, summary);
      await Promise.race([replaced, lockIsAwaited()]);
      const { rows } = await client.query('SELECT count(*) FROM ledger.charges');
      return { seen: rows, replaced };
    });
    expect(seen).toEqual([{ count: 300n }]);
    await expect(replaced).resolves.toBe(true);
    await database.onApplicationShutdown();
    expect(await marchRows()).toBeLessThan(300n);
  });

  it('disturbs neither postings nor audits that run meanwhile', async () => {
    const accountIds = [await account(), await account(), await account()];
    const months = ['2026-02', '2026-03', '2026-04'];
    for (const month of months)
      await running.poster.post(
        marchCharges(accountIds).map((charge) => ({
          ...charge,
          at: charge.at.replace(/^2026-03-\d\d/, `${month}-11`),
        })),
      );
    await running.books.audit('whole');
    const over = new AbortController();
    let spentNano = 0n;
    const posting = async (lane: number): Promise<void> => {
      while (!over.signal.aborted) {
        const batch = Array.from({ length: 40 }, () => chargeOf(accountIds[lane] ?? '', 1n));
        await running.poster.post(batch);
        spentNano += 40n;
      }
    };
    const auditing = async (scope: 'whole' | 'new'): Promise<void> => {
      while (!over.signal.aborted)
        await expect(running.books.audit(scope)).resolves.toMatchObject({ ok: true, mismatches: [] });
    };
    const before = await books();
    const load = Promise.all([posting(0), posting(1), posting(2), auditing('whole'), auditing('new')]);
    try {
      for (const month of months) await Promise.race([close({ month }), load]);
    } finally {
      over.abort();
      await load;
    }
    await expectProved();
    expect(spentNano).toBeGreaterThan(0n);
    const after = await books();
    const total = ({ accounts }: typeof before): bigint =>
      accounts.reduce((sum, { usd_nano: usdNano }) => sum + (usdNano as bigint), 0n);
    expect(total(before) - total(after)).toBe(spentNano);
    const old = ({ days }: typeof before): unknown[] => days.filter(({ day }) => (day as string) < '2026-05');
    expect(old(after)).toEqual(old(before));
  });
});

describe('random histories whose months are closed', () => {
  it('keep every balance to the nano-dollar, and their audits', async () => {
    const fixture = new HistoryFixture(running);
    const seed = Date.now() % 2 ** 31;
    const count = Math.min(500, repeats('HISTORIES'));
    const played = await fixture.play(Array.from({ length: count }, (_, number) => planOf(seed, number)));
    expect(played.filter(({ failure }) => failure !== undefined)).toEqual([]);
    await expect(fixture.audit()).resolves.toMatchObject({ ok: true, mismatches: [] });
    const before = await books();
    const months = await running.database.query<{ month: string }>(
      `SELECT DISTINCT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM ledger.charges ORDER BY 1`,
    );
    expect(months.length).toBeGreaterThan(1);
    const now = new Date('2100-01-01');
    for (const { month } of months) await close({ month, now });
    expect(await books(), `seed ${seed}`).toEqual(before);
    await expectProved();
  });
});
