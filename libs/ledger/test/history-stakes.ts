import assert from 'node:assert/strict';
import type { BooksModel } from './history-books.js';

/** Sets the DIEM of accounts for a day. */
export interface Midnight {
  readonly day: string;
  readonly accountIds: readonly string[];
  readonly how: 'works' | 'fails' | 'dies';
}

interface StakedAccount {
  /** The last day set in the books, whether or not the hold book was updated. */
  setOn: string;
  /** DIEM before a midnight, and how much of it no request held. */
  before: bigint;
  rest: bigint | undefined;
  isLeftOut: boolean;
}

/** Model: on each day an account has its staked amount of DIEM, or what requests hold if that is more. */
export class StakesModel {
  private readonly accounts = new Map<string, StakedAccount>();

  constructor(private readonly books: BooksModel) {}

  begin(accountIds: readonly string[], day: string): void {
    for (const accountId of accountIds)
      this.accounts.set(accountId, {
        setOn: day,
        before: 0n,
        rest: undefined,
        isLeftOut: false,
      });
  }

  start({ accountIds }: Midnight): void {
    for (const accountId of accountIds) {
      const before = this.books.account(accountId).balances.diemNano;
      Object.assign(this.account(accountId), { before, rest: undefined, isLeftOut: false });
    }
  }

  /** Records what is set aside of an account. */
  async rest(accountId: string, diemNano: Promise<bigint>): Promise<bigint> {
    const account = this.account(accountId);
    try {
      account.rest = await diemNano;
      return account.rest;
    } catch (error) {
      account.isLeftOut = true;
      throw error;
    }
  }

  check({ day, accountIds, how }: Midnight): void {
    for (const accountId of accountIds) {
      const account = this.account(accountId);
      const { balances, tokensNano } = this.books.account(accountId);
      const isDue = account.setOn < day && !account.isLeftOut;
      if (!isDue || how === 'fails') {
        assert.equal(balances.diemNano, account.before, 'DIEM is set once a day');
        continue;
      }
      assert(account.rest !== undefined, 'DIEM is set aside before it expires');
      const held = account.before - account.rest;
      const stays = held > 0n ? held : 0n;
      assert.equal(balances.diemNano, tokensNano > stays ? tokensNano : stays, 'an account has its stake');
      if (stays > 0n) this.books.happened('a day is set while requests hold');
      account.setOn = day;
    }
  }

  private account(accountId: string): StakedAccount {
    const account = this.accounts.get(accountId);
    assert(account);
    return account;
  }
}
