import { PassingMap } from '@svc/runtime';
import { ServerWork } from './choice/server-work.js';
import { BackendHealth } from './health/backend-health.js';
import { TokenQueue, type Sharer, type UsedTokens } from './sharing/token-queue.js';

/** The least queue length, for backends with few slots; others may queue as many calls as they have slots. */
const LEAST_WAITING = 16;

/**
 * The slots that an account with this many running calls leaves free for accounts with fewer: at most an
 * eighth of all, but up to 4 of a small number. Half of these are for accounts without any running call. So a
 * lone account has most slots, while a few accounts with slow streams never have all. Of fewer than 4 slots
 * none is spared.
 */
function sparedSlots(running: number, maxInFlight: number): number {
  if (running === 0) return 0;
  const most = Math.max(Math.floor(maxInFlight / 8), Math.min(4, Math.floor(maxInFlight / 4)));
  return Math.min(running + Math.floor(most / 2), most);
}

/** A call waiting for a backend's slot. It is granted or refused once, unless it leaves first. */
export interface Waiter extends Sharer {
  /** The slots of the backend. */
  readonly maxInFlight: number;
  /** Takes the slot. */
  readonly grant: (giveBack: GiveBack) => void;
  /** The queue is full, and other accounts have fewer calls. */
  readonly refuse: () => void;
}

/**
 * Frees the slot of a call. Call it once, when the call has ended, with the tokens that it has used: they
 * matter if other calls were waiting when it began.
 */
export type GiveBack = (used?: UsedTokens) => void;

/**
 * The calls running at one URL and model, by account, and those waiting for a slot, among which the tokens
 * are shared. The last free slots are for accounts with few running calls, so that a few accounts with slow
 * streams don't keep a backend from all others.
 */
export class BackendLoad {
  readonly health = new BackendHealth();
  readonly work = new ServerWork();
  private runningCount = 0;
  private readonly running = new PassingMap<string, number>();
  private readonly waiting = new TokenQueue<Waiter>();
  private readonly rules = {
    canRun: ({ accountId, maxInFlight }: Waiter) => this.hasSlotFor(accountId, maxInFlight),
    runningOf: (accountId: string) => this.runningOf(accountId),
  };

  get inFlight(): number {
    return this.runningCount;
  }

  get waitingCalls(): number {
    return this.waiting.size;
  }

  get isIdle(): boolean {
    return this.runningCount === 0 && this.waitingCalls === 0;
  }

  /** Takes a slot, if one is free for this account. */
  take(sharer: Sharer, maxInFlight: number): GiveBack | undefined {
    if (!this.hasSlotFor(sharer.accountId, maxInFlight)) return undefined;
    return this.start(sharer, this.waitingCalls > 0);
  }

  /**
   * Queues a call that found no slot. When too many wait, the account with the most calls, running and
   * waiting, loses its latest, which may be this one. The returned function leaves the queue.
   */
  join(waiter: Waiter): () => void {
    this.waiting.join(waiter);
    if (this.waitingCalls > Math.max(waiter.maxInFlight, LEAST_WAITING)) {
      const latest = this.waiting.latestOfLargest(this.rules);
      if (latest) {
        this.waiting.leave(latest);
        latest.refuse();
      }
    }
    return () => void this.waiting.leave(waiter);
  }

  private start(sharer: Sharer, isShared: boolean): GiveBack {
    const { accountId } = sharer;
    this.runningCount += 1;
    this.running.set(accountId, this.runningOf(accountId) + 1);
    const correct = isShared ? this.waiting.charge(sharer) : undefined;
    return (used) => {
      this.runningCount -= 1;
      const left = this.runningOf(accountId) - 1;
      if (left > 0) this.running.set(accountId, left);
      else this.running.delete(accountId);
      correct?.(used);
      if (this.waitingCalls > 0) this.grantFree();
    };
  }

  private grantFree(): void {
    for (let next = this.waiting.next(this.rules); next; next = this.waiting.next(this.rules)) {
      this.waiting.leave(next);
      next.grant(this.start(next, true));
    }
  }

  private hasSlotFor(accountId: string, maxInFlight: number): boolean {
    return this.runningCount + sparedSlots(this.runningOf(accountId), maxInFlight) < maxInFlight;
  }

  private runningOf(accountId: string): number {
    return this.running.get(accountId) ?? 0;
  }
}
