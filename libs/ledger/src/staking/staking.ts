import { Injectable } from '@nestjs/common';
import { Problem, type Stake } from '@svc/contracts';
import { Clock, utcDay } from '../clock.js';
import { StakeDays } from './stake-days.js';
import { StakesStore } from './stakes.store.js';

/** Accounts of one transaction. */
const BATCH = 200;
/** Before the id of any account. */
const FIRST = '00000000-0000-0000-0000-000000000000';
/** A clock may be so much behind the one that says when a day begins. */
const CLOCKS_DIFFER_MS = 60_000;

/** The DIEM of accounts that have a stake: on each UTC day as much as they have staked. */
@Injectable()
export class Staking {
  constructor(
    private readonly store: StakesStore,
    private readonly days: StakeDays,
    private readonly clock: Clock,
  ) {}

  stake(accountId: string): Promise<Stake> {
    return this.store.stake(accountId);
  }

  async setStake(accountId: string, tokensNano: bigint): Promise<Stake> {
    await this.store.setTokens(accountId, tokensNano);
    const now = this.clock.now();
    const leftOut = await this.days.set(utcDay(now), now.toISOString(), [accountId]);
    if (leftOut > 0) throw new Problem('UNAVAILABLE');
    return this.store.stake(accountId);
  }

  /**
   * Sets the DIEM of every account for which that was not done on the current day. Days that were missed need nothing:
   * what they would have granted would have expired. `dueAt` is when this run was to begin: where the clock is still
   * a little before that, the day is that of `dueAt`.
   */
  async setDay({ dueAt, signal }: { readonly dueAt: Date; readonly signal: AbortSignal }): Promise<void> {
    if (!(await this.store.isAnyDue(utcDay(this.now(dueAt))))) return;
    let leftOut = 0;
    for (let after: string | undefined = FIRST; after !== undefined;) {
      signal.throwIfAborted();
      const now = this.now(dueAt);
      const day = utcDay(now);
      const { due, last }: Awaited<ReturnType<StakesStore['window']>> = await this.store.window(
        day,
        after,
        BATCH,
      );
      if (due.length > 0) leftOut += await this.days.set(day, now.toISOString(), due);
      after = last;
    }
    if (leftOut > 0) throw new Error(`the DIEM of ${leftOut} accounts could not be set`);
  }

  private now(dueAt: Date): Date {
    const now = this.clock.now();
    const earlyMs = dueAt.getTime() - now.getTime();
    return earlyMs > 0 && earlyMs < CLOCKS_DIFFER_MS ? dueAt : now;
  }
}
