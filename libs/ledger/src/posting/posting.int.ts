import { randomUUID } from 'node:crypto';
import { type Charge, usageRecorded } from '@svc/contracts/messages';
import { TRANSFER_KINDS } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { testLedger } from '../../test/test-ledger.js';
import { chargeOf, newAccount, usd } from '../../test/testing.js';

const running = testLedger();

const accountWith = (usdNano: bigint, diemNano?: bigint): Promise<string> =>
  newAccount(running, usdNano, diemNano);

const balances = (accountId: string) => running.books.balances(accountId);
const rows = async (sql: string, ...values: unknown[]) => running.database.query(sql, values);

async function expectSound(): Promise<void> {
  await expect(running.books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

describe('the kinds of transfers', () => {
  it('are the same in the contract and in the database', async () => {
    const [constraint] = await rows(
      `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
       WHERE conrelid = 'ledger.transfers'::regclass AND conname = 'transfers_kind_known'`,
    );
    const stored = Array.from(String(constraint?.['text']).matchAll(/'(\w+)'/g), ([, kind]) => kind);
    expect(new Set(stored)).toEqual(new Set(TRANSFER_KINDS));
  });
});

describe('posting', () => {
  it('stores a charge with its lines and transfers and takes both currencies from the balance', async () => {
    const accountId = await accountWith(usd(1), usd(0.5));
    const charge = chargeOf(accountId, 0n, { cost: { usdNano: 700n, diemNano: usd(0.5) }, writeOffNano: 5n });
    await running.poster.post([charge]);
    await expect(balances(accountId)).resolves.toEqual({ usdNano: usd(1) - 700n, diemNano: 0n });
    const transfers = await running.books.transfers(accountId, { limit: 10 });
    expect(transfers.map(({ kind, currency, amountNano }) => [kind, currency, amountNano])).toEqual([
      ['write_off', 'USD', 5n],
      ['charge', 'USD', 700n],
      ['charge', 'DIEM', usd(0.5)],
      ['grant', 'DIEM', usd(0.5)],
      ['credit', 'USD', usd(1)],
    ]);
    await expect(
      rows(
        'SELECT prompt_tokens, usd_nano, diem_nano, write_off_nano, at FROM ledger.charges WHERE request_id = $1',
        charge.requestId,
      ),
    ).resolves.toEqual([
      {
        prompt_tokens: 10n,
        usd_nano: 700n,
        diem_nano: usd(0.5),
        write_off_nano: 5n,
        at: new Date(charge.at),
      },
    ]);
    await expectSound();
  });

  it.each(['"', '\\\\', '\\"', '{a,b}', 'NULL', '', ' ', ',', "'; --", 'é🙂\n', '$1'])(
    'keeps the name %j unchanged, and posts it once',
    async (name) => {
      const accountId = await accountWith(usd(1));
      const requestId = `${randomUUID()}${name}`;
      const charge = { ...chargeOf(accountId, 7n), requestId, model: name, backend: name };
      const other = { ...charge, requestId: `${requestId}2`, model: 'other' };
      await running.poster.post([charge, other]);
      await running.poster.post([charge]);
      await expect(
        rows(
          'SELECT request_id, model, backend FROM ledger.charges WHERE account_id = $1 ORDER BY 1',
          accountId,
        ),
      ).resolves.toEqual([
        { request_id: requestId, model: name, backend: name },
        { request_id: other.requestId, model: 'other', backend: name },
      ]);
      await expect(balances(accountId)).resolves.toMatchObject({ usdNano: usd(1) - 14n });
    },
  );

  it('posts a charge once: twice in a batch, in later batches, and with another time', async () => {
    const accountId = await accountWith(usd(1));
    const charge = chargeOf(accountId, 100n);
    await running.poster.post([charge, charge]);
    await running.poster.post([charge]);
    await running.poster.post([{ ...charge, at: new Date(Date.parse(charge.at) + 5_000).toISOString() }]);
    await expect(balances(accountId)).resolves.toEqual({ usdNano: usd(1) - 100n, diemNano: 0n });
  });

  it('has the same result for charges that arrive concurrently, twice and in any order', async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => accountWith(usd(1))));
    const charges = Array.from({ length: 1_000 }, (_, index) =>
      chargeOf(accounts[index % accounts.length] ?? '', BigInt(index)),
    );
    const deliveries = shuffled([...charges, ...charges]);
    const batches = Array.from({ length: 8 }, (_, index) => deliveries.slice(index * 250, index * 250 + 250));
    await Promise.all(batches.map((batch) => running.poster.post(batch)));
    for (const [place, accountId] of accounts.entries()) {
      const spent = charges
        .filter((_, index) => index % accounts.length === place)
        .reduce((sum, { cost }) => sum + cost.usdNano, 0n);
      await expect(balances(accountId)).resolves.toEqual({ usdNano: usd(1) - spent, diemNano: 0n });
    }
    await expectSound();
  });

  it('writes off what exceeds a balance, and never makes it negative', async () => {
    const accountId = await accountWith(1_000n);
    const charges = [chargeOf(accountId, 800n), chargeOf(accountId, 500n), chargeOf(randomUUID(), 70n)];
    await running.poster.post(charges);
    await expect(balances(accountId)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
    await expect(
      rows(
        'SELECT usd_nano, write_off_nano FROM ledger.charges WHERE request_id = ANY($1) ORDER BY usd_nano',
        charges.map(({ requestId }) => requestId),
      ),
    ).resolves.toEqual([
      { usd_nano: 0n, write_off_nano: 70n },
      { usd_nano: 200n, write_off_nano: 300n },
      { usd_nano: 800n, write_off_nano: 0n },
    ]);
    await expectSound();
  });

  it('creates the missing month of a charge, up to its last nanosecond', async () => {
    const accountId = await accountWith(1_000n);
    const times = ['2031-05-01T00:00:00Z', '2031-05-31T23:59:59.999999Z', '2019-12-31T23:59:59.9999Z'];
    await running.poster.post(times.map((at) => chargeOf(accountId, 100n, { at })));
    await expect(balances(accountId)).resolves.toEqual({ usdNano: 700n, diemNano: 0n });
    const stored = await rows(
      'SELECT tableoid::regclass::text AS part FROM ledger.charges WHERE account_id = $1 ORDER BY at',
      accountId,
    );
    expect(stored).toEqual([
      { part: 'ledger.charges_2019_12' },
      { part: 'ledger.charges_2031_05' },
      { part: 'ledger.charges_2031_05' },
    ]);
    await expectSound();
  });
});

describe('posting faulty charges', () => {
  it('rejects an incoherent charge once, posts the rest, and the audit reports it', async () => {
    const accountId = await accountWith(1_000n);
    const bad: Charge = { ...chargeOf(accountId, 100n), writeOffNano: 1n };
    const good = chargeOf(accountId, 10n);
    await running.poster.post([bad, good]);
    await running.poster.post([bad]);
    await expect(balances(accountId)).resolves.toEqual({ usdNano: 990n, diemNano: 0n });
    const report = await running.books.audit('whole');
    expect(report.ok).toBe(false);
    expect(report.mismatches).toEqual([expect.stringMatching(/its lines do not sum to its cost/)]);
    await rows('DELETE FROM ledger.rejected_charges');
  });

  it('finds the one charge that the database rejects, and posts all others', async () => {
    const accountId = await accountWith(1_000n);
    await rows(`ALTER TABLE ledger.charges ADD CONSTRAINT no_poison CHECK (model <> 'poison')`);
    try {
      const charges = Array.from({ length: 9 }, (_, index) =>
        chargeOf(accountId, 10n, { model: index === 5 ? 'poison' : 'model' }),
      );
      await running.poster.post(charges);
      await expect(balances(accountId)).resolves.toEqual({ usdNano: 920n, diemNano: 0n });
      await expect(rows('SELECT reason FROM ledger.rejected_charges')).resolves.toEqual([
        { reason: expect.stringContaining('no_poison') },
      ]);
    } finally {
      await rows('ALTER TABLE ledger.charges DROP CONSTRAINT no_poison');
      await rows('DELETE FROM ledger.rejected_charges');
    }
  });
});

describe('the consumer', () => {
  it('posts what is recorded, however often and in whatever order it arrives', async () => {
    const accountId = await accountWith(usd(1));
    const charges = Array.from({ length: 200 }, (_, index) => chargeOf(accountId, BigInt(index + 1)));
    await Promise.all(
      shuffled([...charges, ...charges, ...charges]).map((charge) =>
        running.log.publish(usageRecorded, charge),
      ),
    );
    await expect(balances(accountId)).resolves.toEqual({ usdNano: usd(1) - 20_100n, diemNano: 0n });
    await expectSound();
  });

  it('posts an event when it is delivered again after a failure', async () => {
    const accountId = await accountWith(1_000n);
    await rows('ALTER TABLE ledger.charge_lines RENAME TO hidden_lines');
    await running.log.publish(usageRecorded, chargeOf(accountId, 100n));
    await new Promise((resolve) => setTimeout(resolve, 150));
    await rows('ALTER TABLE ledger.hidden_lines RENAME TO charge_lines');
    await expect(balances(accountId)).resolves.toEqual({ usdNano: 900n, diemNano: 0n });
    await expectSound();
  });
});
