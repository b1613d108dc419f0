import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import type { Stake } from '@svc/contracts/ports';
import { Clock, utcDay } from '../clock.js';
import { StakeDays } from './stake-days.js';
import { StakesStore } from './stakes.store.js';

/** Accounts per transaction. */
const BATCH = 200;
/** Sorts before any account id. */
const FIRST = '00000000-0000-0000-0000-000000000000';
/** How far a clock may lag behind the one that started the run. */
const CLOCKS_DIFFER_MS = 60_000;

/** Grants DIEM: on each UTC day an account has as much as it has staked. */
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
   * Sets the DIEM of every account not yet set for the current day. Missed days need nothing: what they would
   * have granted would have expired. `dueAt` is when this run was due: if the clock is slightly before it,
   * the day of `dueAt` counts.
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
