import assert from 'node:assert/strict';
import { type Balances, totalNano } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import type { LimitPeriod, Refund } from '@svc/contracts/ports';
import type { ProblemCode } from '@svc/contracts/problems';
import { NONE, inPeriod, minus, plus, same, smaller, sumOf } from './history-money.js';
import type { AccountRow, ChargeRow, MovedRow, UsageRow } from './history-rows.store.js';

interface Account {
  balances: Balances;
  version: bigint;
  tokensNano: bigint;
  /** The cost of a charge could be spent again: its hold lapsed before the book received the posting. */
  isLate: boolean;
  readonly credits: Map<string, bigint>;
  readonly refunds: Map<string, { readonly requestId: string; readonly amount: Balances }>;
}

/** A recorded charge, and what the books did with it. */
interface Recorded {
  readonly charge: Charge;
  posted: boolean;
  paid: Balances;
  writtenOffNano: bigint;
  readonly moves: Set<string>;
}

/** Model of the books: the expected sums, by the rules of the contract. */
export class BooksModel {
  readonly recorded = new Map<string, Recorded>();
  private readonly accounts = new Map<string, Account>();

  /** `happened` counts events, to prove that they occur. */
  constructor(readonly happened: (what: string) => void) {}

  open(accountId: string, usdNano: bigint, tokensNano: bigint): void {
    this.accounts.set(accountId, {
      balances: { usdNano, diemNano: tokensNano },
      version: 1n,
      tokensNano,
      isLate: false,
      credits: new Map([['first', usdNano]]),
      refunds: new Map(),
    });
  }

  account(accountId: string): Account {
    const account = this.accounts.get(accountId);
    assert(account, `there is no account ${accountId}`);
    return account;
  }

  record(charge: Charge): void {
    if (this.recorded.has(charge.requestId)) return;
    const nothing = { posted: false, paid: NONE, writtenOffNano: 0n };
    this.recorded.set(charge.requestId, { charge, ...nothing, moves: new Set() });
  }

  markPosted(requestId: string): void {
    const recorded = this.recorded.get(requestId);
    assert(recorded, 'what is posted was recorded');
    recorded.posted = true;
  }

  isPosted(requestId: string): boolean {
    return this.recorded.get(requestId)?.posted === true;
  }

  /** A key's spending in the period of an hour, by the charges that count. */
  spent(keyId: string, hour: string, { period, counts }: SpentOf): Balances {
    const charges = [...this.recorded.values()].filter(
      ({ charge }) =>
        charge.keyId === keyId && counts(charge.requestId) && inPeriod(period, charge.at.slice(0, 13), hour),
    );
    return sumOf(charges.map(({ paid }) => paid));
  }

  /** The effect of a credit: it adds, or does nothing if it was made before. */
  credit(accountId: string, reference: string, usdNano: bigint): ProblemCode | undefined {
    const { credits } = this.account(accountId);
    const before = credits.get(reference);
    if (before !== undefined && before !== usdNano) return 'REFERENCE_REUSED';
    credits.set(reference, usdNano);
    return undefined;
  }

  /** What a refund returns, or why it is rejected. */
  refund({ accountId, requestId, reference, amount }: Refund): Balances | ProblemCode {
    const { refunds } = this.account(accountId);
    const recorded = this.recorded.get(requestId);
    if (!recorded?.posted) return 'CHARGE_NOT_FOUND';
    const made = [...refunds].filter(([, refund]) => refund.requestId === requestId);
    const place = made.findIndex(([name]) => name === reference);
    const before = place === -1 ? made : made.slice(0, place);
    const left = minus(recorded.paid, sumOf(before.map(([, refund]) => refund.amount)));
    const wanted = amount ?? left;
    const earlier = refunds.get(reference);
    if (earlier)
      return earlier.requestId === requestId && same(earlier.amount, wanted) ? wanted : 'REFERENCE_REUSED';
    if (wanted.usdNano > left.usdNano || wanted.diemNano > left.diemNano || totalNano(wanted) === 0n)
      return 'REFUND_TOO_LARGE';
    refunds.set(reference, { requestId, amount: wanted });
    return wanted;
  }

  /** Follows the books' transfers one by one, and checks each. */
  move(row: MovedRow): void {
    const account = this.account(row.account_id);
    const currency = row.currency === 'USD' ? 'usdNano' : 'diemNano';
    const moved = { ...NONE, [currency]: row.amount_nano };
    switch (row.kind) {
      case 'credit':
        assert.equal(row.amount_nano, account.credits.get(row.reference), 'a credit has its recorded amount');
        account.balances = plus(account.balances, moved);
        return;
      case 'refund':
        assert.equal(
          row.amount_nano,
          account.refunds.get(row.reference)?.amount[currency],
          'a refund is as told',
        );
        account.balances = plus(account.balances, moved);
        return;
      case 'grant':
        account.balances = plus(account.balances, moved);
        return;
      case 'expiry':
        account.balances = minus(account.balances, moved);
        return;
      case 'charge':
        this.charge(account, row, currency);
        return;
      case 'write_off':
        this.writeOff(account, row);
        return;
      case 'deposit':
      case 'reversal':
      case 'debt':
      case 'repayment':
      case 'debit':
      case 'credit_reversal':
        assert.fail('nobody deposited anything');
    }
  }

  /** Checks that an account's balance equals its transfers. */
  check({ id, usd_nano: usdNano, diem_nano: diemNano, version }: AccountRow): void {
    const account = this.account(id);
    assert.deepEqual({ usdNano, diemNano }, account.balances, `account ${id} has what its transfers say`);
    assert(usdNano >= 0n && diemNano >= 0n, 'a balance is not negative');
    assert(version >= account.version, 'a version grows');
    account.version = version;
  }

  /** Checks that posted charges have all their transfers, and no other charges have any. */
  checkMoved(): void {
    for (const { posted, charge, paid, writtenOffNano } of this.recorded.values()) {
      const due = posted ? totalNano(charge.cost) + charge.writeOffNano : 0n;
      assert.equal(totalNano(paid) + writtenOffNano, due, `charge ${charge.requestId} has its transfers`);
    }
  }

  /** At the end: each request has one charge, and the daily sums equal their lines. */
  checkCharges(charges: readonly ChargeRow[], usage: readonly UsageRow[]): void {
    const stored = charges
      .map((row) => [
        row.request_id,
        row.account_id,
        row.key_id,
        row.usd_nano,
        row.diem_nano,
        row.write_off_nano,
      ])
      .toSorted(byFirst);
    const expected = [...this.recorded.values()]
      .map(({ charge, paid, writtenOffNano }) => [
        charge.requestId,
        charge.accountId,
        charge.keyId,
        paid.usdNano,
        paid.diemNano,
        writtenOffNano,
      ])
      .toSorted(byFirst);
    assert.deepEqual(stored, expected, 'every request that was settled has one charge');
    const days = usage.map((row) => [
      [row.account_id, row.day, row.key_id, row.sku].join(),
      row.units,
      row.usd_nano,
      row.diem_nano,
    ]);
    assert.deepEqual(
      days.toSorted(byFirst),
      this.days().toSorted(byFirst),
      'the sums of days are those of lines',
    );
  }

  /** Pays the lines of every charge in order, DIEM first, from what was paid. */
  private days(): (string | bigint)[][] {
    const sums = new Map<string, { units: bigint; paid: Balances }>();
    for (const { charge, paid } of this.recorded.values()) {
      let left = paid;
      for (const line of charge.lines) {
        const diemNano = smaller(line.amountNano, left.diemNano);
        const part = { diemNano, usdNano: smaller(line.amountNano - diemNano, left.usdNano) };
        left = minus(left, part);
        const name = [charge.accountId, dayOf(charge), charge.keyId, line.sku].join();
        const sum = sums.get(name) ?? { units: 0n, paid: NONE };
        sums.set(name, { units: sum.units + BigInt(line.units), paid: plus(sum.paid, part) });
      }
    }
    return Array.from(sums, ([name, { units, paid }]) => [name, units, paid.usdNano, paid.diemNano]);
  }

  private charge(account: Account, row: MovedRow, currency: keyof Balances): void {
    const recorded = this.charged(row, currency);
    const { cost } = recorded.charge;
    const { usdNano, diemNano } = account.balances;
    // DIEM comes first, and pays for USD that is missing too.
    const missing = cost.usdNano - smaller(cost.usdNano, usdNano);
    const due =
      currency === 'diemNano'
        ? smaller(cost.diemNano + missing, diemNano)
        : smaller(totalNano(cost) - recorded.paid.diemNano, usdNano);
    assert.equal(row.amount_nano, due, 'a charge takes what it costs, or all there is');
    const moved = { ...NONE, [currency]: due };
    account.balances = minus(account.balances, moved);
    recorded.paid = plus(recorded.paid, moved);
  }

  private writeOff(account: Account, row: MovedRow): void {
    const recorded = this.charged(row, 'write-off');
    const { cost, writeOffNano } = recorded.charge;
    const shortNano = totalNano(cost) - totalNano(recorded.paid);
    assert.equal(row.amount_nano, writeOffNano + shortNano, 'what nobody pays is written off');
    assert(shortNano === 0n || account.isLate, `request ${row.reference} was held, but it could not be paid`);
    if (shortNano > 0n) this.happened('a write-off');
    recorded.writtenOffNano = row.amount_nano;
  }

  private charged(row: MovedRow, name: string): Recorded {
    const recorded = this.recorded.get(row.reference);
    assert(recorded, `${row.reference} was not settled, but is charged`);
    assert(!recorded.moves.has(name), `${row.reference} is charged twice`);
    assert.equal(row.at.toISOString(), recorded.charge.at, 'a charge has its time');
    recorded.moves.add(name);
    return recorded;
  }
}

interface SpentOf {
  readonly period: LimitPeriod;
  readonly counts: (requestId: string) => boolean;
}

const dayOf = (charge: Charge): string => charge.at.slice(0, 10);

const byFirst = ([a]: readonly unknown[], [b]: readonly unknown[]): number =>
  String(a) < String(b) ? -1 : 1;
