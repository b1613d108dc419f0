import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AccountChange } from '@svc/hold-book';
import { DiemHolds } from './diem-holds.js';
import { EarlierCharges } from '../posting/earlier-charges.js';
import { CommitInDoubt, type DayToSet, StakesStore } from './stakes.store.js';

/** Waits between attempts to find out whether a commit succeeded. */
const DOUBT_WAITS_MS = [100, 500, 2_000];

/** Sets the DIEM of accounts for a day: in the books first, then in the hold book. */
@Injectable()
export class StakeDays {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: StakesStore,
    private readonly diemHolds: DiemHolds,
    private readonly earlier: EarlierCharges,
  ) {}

  /**
   * Sets the accounts not yet set for the day, and returns how many had to be left out. `at` is a time of
   * that day. Batches run one after another, because each has a connection and needs more.
   */
  set(day: string, at: string, accountIds: readonly string[]): Promise<number> {
    const batch = this.turn.then(() => this.setBatch(day, at, accountIds));
    this.turn = batch.catch(() => undefined);
    return batch;
  }

  private async setBatch(day: string, at: string, accountIds: readonly string[]): Promise<number> {
    // No hold covers charges of an earlier run: their cost must not expire before they are posted.
    if (!this.earlier.arePosted) await this.earlier.posted();
    const aside = new Map<string, bigint>();
    const wanted = new Set<string>();
    let sinceMs: number | undefined;
    const setAside = async (ids: readonly string[]): Promise<ReadonlyMap<string, bigint>> => {
      sinceMs ??= performance.now();
      const taken = await this.diemHolds.take(day, ids);
      for (const accountId of ids) wanted.add(accountId);
      for (const [accountId, nano] of taken) aside.set(accountId, nano);
      return taken;
    };
    const assertAside = (): void =>
      assert(
        performance.now() - (sinceMs ?? Infinity) < this.diemHolds.holdsForMs,
        'it takes less than a lease',
      );
    let accounts: AccountChange[];
    try {
      accounts = await this.stored({ day, at, accountIds, setAside, assertAside });
    } catch (error) {
      // After a commit in doubt, DIEM stays aside until a later run knows the outcome or the lease ends.
      if (!(error instanceof CommitInDoubt)) await this.diemHolds.giveBack(day, aside);
      throw error;
    }
    await this.diemHolds.post(day, accounts);
    const set = accounts.map(({ accountId }) => accountId);
    await this.store.confirm(day, set);
    const leftOut = [...wanted].filter((accountId) => !aside.has(accountId));
    for (const accountId of set) aside.delete(accountId);
    // Another run set these accounts meanwhile.
    await this.diemHolds.giveBack(day, aside);
    return leftOut.length;
  }

  /**
   * The next attempt finds the outcome of a commit in doubt, because it waits until the stakes are unlocked.
   */
  private async stored(set: DayToSet): Promise<AccountChange[]> {
    let inDoubt: CommitInDoubt | undefined;
    for (const waitMs of [...DOUBT_WAITS_MS, 0]) {
      try {
        return await this.store.setDay(set);
      } catch (error) {
        if (error instanceof CommitInDoubt) inDoubt = error;
        if (!inDoubt) throw error;
        await sleep(waitMs);
      }
    }
    throw inDoubt ?? new Error('unreachable');
  }
}
