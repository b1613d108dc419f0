import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import type { MonthEntry } from '@svc/contracts/accounting';
import type { Currency } from '@svc/contracts/money';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RunningLedger, chargeOf, startLedger, usd } from '../../test/testing.js';

const MONTHS = ['2026-08', '2026-09', '2026-10', '2026-11'] as const;
const MODELS = ['small', 'large', 'image'];
const ACCOUNTS = 3;
const STEPS = 25;

let test: TestDatabase;
let running: RunningLedger;

/** Only the date: months pass, deadlines do not. */
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterAll(() => {
  vi.useRealTimers();
});

beforeEach(async () => {
  vi.setSystemTime(`${MONTHS[0]}-01T00:00:00Z`);
  test = await startTestDatabase();
  running = await startLedger({ url: test.url });
  return async () => {
    await running.stop();
    await test.stop();
  };
});

type Sums = Map<string, bigint>;

const nameOf = ({ entry, detail, currency }: MonthEntry): string => `${entry} ${detail} ${currency}`;

function add(sums: Sums, name: string, nano: bigint): void {
  if (nano > 0n) sums.set(name, (sums.get(name) ?? 0n) + nano);
}

/** The sums of the entries between the balances. */
function sumsOf(entries: readonly MonthEntry[]): Sums {
  const sums: Sums = new Map();
  for (const entry of entries)
    if (!entry.entry.endsWith('_balance')) add(sums, nameOf(entry), entry.amountNano);
  return sums;
}

const balanceOf = (entries: readonly MonthEntry[], which: string, currency: Currency): bigint =>
  entries.find((each) => each.entry === which && each.currency === currency)?.amountNano ?? -1n;

/** The opening balance and all changes add up to the closing balance, to the nano-dollar. */
function expectBalanced(entries: readonly MonthEntry[]): void {
  for (const currency of ['USD', 'DIEM'] as const) {
    const changed = entries
      .filter((each) => each.currency === currency)
      .reduce((sum, { changeNano }) => sum + changeNano, 0n);
    expect(balanceOf(entries, 'opening_balance', currency) + changed).toBe(
      balanceOf(entries, 'closing_balance', currency),
    );
  }
}

/** Does something at random to an account, and adds what it should add to the sums of the month. */
async function act(accountId: string, sums: Sums): Promise<void> {
  const { books, poster } = running;
  const reference = randomUUID();
  const usdNano = BigInt(randomInt(1, 1_000_000_000));
  switch (randomInt(9)) {
    case 0:
      await books.credit({ accountId, usdNano, reference });
      add(sums, 'credit deposits:operator USD', usdNano);
      return;
    case 1: {
      const rail = randomInt(2) === 0 ? 'base' : 'solana';
      await books.credit({ accountId, usdNano, reference, rail });
      add(sums, `deposit deposits:${rail} USD`, usdNano);
      return;
    }
    case 2: {
      const refusal = await books.debit({ accountId, usdNano, reference }).then(
        () => undefined,
        ({ code }: { code: string }) => code,
      );
      if (refusal === undefined) add(sums, 'debit deposits:operator USD', usdNano);
      else assert.equal(refusal, 'DEBIT_TOO_LARGE');
      return;
    }
    case 3:
      await books.credit({ accountId, usdNano, reference });
      add(sums, 'credit deposits:operator USD', usdNano);
      await poster.post([chargeOf(accountId, usdNano / 2n, { model: 'small' })]);
      await books.reverse({ accountId, reference });
      return;
    case 4:
      await books.setStake(accountId, usdNano);
      return;
    default: {
      const requestId = `chatcmpl-${randomUUID()}`;
      const model = MODELS[randomInt(MODELS.length)] ?? '';
      await poster.post([chargeOf(accountId, usdNano * 2n, { model, requestId })]);
      if (randomInt(3) === 0) await books.refund({ accountId, requestId, reference }).catch(() => undefined);
    }
  }
}

/** The sums that the transfers themselves show, for the kinds that a step cannot foresee. */
async function transferSums(accountIds: readonly string[], month: string): Promise<Sums> {
  const sums: Sums = new Map();
  const [from, until] = [new Date(`${month}-01T00:00:00Z`), new Date(`${month}-01T00:00:00Z`)];
  until.setUTCMonth(until.getUTCMonth() + 1);
  for (const accountId of accountIds)
    for (const { kind, currency, amountNano } of await running.books.transfers(accountId, {
      limit: 1_000,
      from,
      until,
    }))
      add(sums, `${kind} ${currency}`, amountNano);
  return sums;
}

const withoutDetail = (sums: Sums): Sums => {
  const whole: Sums = new Map();
  for (const [name, nano] of sums) add(whole, name.replace(/ .* /, ' '), nano);
  return whole;
};

describe('accounting', () => {
  it.each(Array.from({ length: repeats('ACCOUNTING_HISTORIES') }, (_, index) => index))(
    'sums to the books over a random history of several months, for all accounts and for each (%i)',
    async () => {
      const accountIds = Array.from({ length: ACCOUNTS }, () => randomUUID());
      const foreseen = new Map<string, Sums>();
      for (const month of MONTHS) {
        const sums: Sums = new Map();
        foreseen.set(month, sums);
        for (let step = 0; step < STEPS; step += 1) {
          const day = String(1 + Math.floor((step * 28) / STEPS)).padStart(2, '0');
          vi.setSystemTime(`${month}-${day}T12:00:00Z`);
          await act(accountIds[step % ACCOUNTS] ?? '', sums);
        }
      }
      const closing = { USD: 0n, DIEM: 0n };
      const closingOf = new Map(accountIds.map((id) => [id, { USD: 0n, DIEM: 0n }]));
      for (const month of MONTHS) {
        const entries = await running.accounting.month(month);
        expectBalanced(entries);
        const statementSums: Sums = new Map();
        for (const accountId of accountIds) {
          const statement = await running.accounting.statement(accountId, month);
          expectBalanced(statement);
          for (const [name, nano] of sumsOf(statement)) add(statementSums, name, nano);
          const earlier = closingOf.get(accountId);
          for (const currency of ['USD', 'DIEM'] as const) {
            expect(balanceOf(statement, 'opening_balance', currency)).toBe(earlier?.[currency]);
            if (earlier) earlier[currency] = balanceOf(statement, 'closing_balance', currency);
          }
        }
        for (const currency of ['USD', 'DIEM'] as const) {
          expect(balanceOf(entries, 'opening_balance', currency)).toBe(closing[currency]);
          closing[currency] = balanceOf(entries, 'closing_balance', currency);
        }
        const sums = sumsOf(entries);
        expect(statementSums).toEqual(sums);
        expect(withoutDetail(sums)).toEqual(await transferSums(accountIds, month));
        for (const [name, nano] of foreseen.get(month) ?? [])
          expect([name, sums.get(name)]).toEqual([name, nano]);
      }
      for (const accountId of accountIds) {
        const { usdNano, diemNano } = await running.books.balances(accountId);
        expect(closingOf.get(accountId)).toEqual({ USD: usdNano, DIEM: diemNano });
      }
      await expect(running.books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
    },
  );

  it('divides charges and write-offs by model, and refunds by who caused them', async () => {
    const accountId = randomUUID();
    await running.books.credit({ accountId, usdNano: usd(3), reference: 'r' });
    await running.poster.post([
      chargeOf(accountId, usd(1), { model: 'a', requestId: 'chatcmpl-1' }),
      chargeOf(accountId, usd(4), { model: 'b' }),
    ]);
    await running.books.refund({ accountId, requestId: 'chatcmpl-1', reference: 'complaint' });
    const entries = await running.accounting.month(MONTHS[0]);
    expect(Object.fromEntries(sumsOf(entries))).toEqual({
      'charge a USD': usd(1),
      'charge b USD': usd(2),
      'write_off b USD': usd(2),
      'credit deposits:operator USD': usd(3),
      'refund operator USD': usd(1),
    });
  });

  it('sums what providers take and what is left, for the charges whose cost at a provider is known', async () => {
    const accountId = randomUUID();
    const total = { charged: 0n, provider: 0n };
    await running.books.credit({ accountId, usdNano: usd(3), reference: 'r' });
    const charges = Array.from({ length: 30 }, (_, number) => {
      const [amountNano, providerNano] = [BigInt(randomInt(1, 1_000_000)), BigInt(randomInt(1, 1_000_000))];
      const line = { sku: 'a', unit: 'token', units: 1, priceNanoPerMillion: 1n, amountNano };
      const isKnown = number % 3 > 0;
      if (isKnown) {
        total.charged += amountNano;
        total.provider += providerNano;
      }
      const lines = [{ ...line, ...(isKnown && { providerNano }) }];
      return chargeOf(accountId, amountNano, { model: number % 3 === 2 ? 'a' : 'b', lines });
    });
    await running.poster.post(charges);
    const [charge] = charges.slice(1);
    await expect(running.books.charge(charge?.requestId ?? '')).resolves.toMatchObject({
      lines: [{ providerNano: charge?.lines[0]?.providerNano }],
    });
    const entries = await running.accounting.month(MONTHS[0]);
    expectBalanced(entries);
    const sum = (name: string): bigint =>
      entries.reduce((nano, { entry, amountNano }) => (entry === name ? nano + amountNano : nano), 0n);
    expect(sum('provider_cost')).toBe(total.provider);
    expect(sum('margin')).toBe(total.charged - total.provider);
    expect(entries.filter(({ entry }) => entry === 'margin').map(({ detail }) => detail)).toEqual(['a', 'b']);
  });
});
