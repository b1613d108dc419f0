import { ServerWork } from './choice/server-work.js';
import { BackendHealth } from './health/backend-health.js';

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
export interface Waiter {
  readonly accountId: string;
  /** The slots of the backend. */
  readonly maxInFlight: number;
  /** Takes the slot; called with the function that frees it. */
  readonly grant: (giveBack: () => void) => void;
  /** The queue is full, and other accounts have fewer calls. */
  readonly refuse: () => void;
}

/**
 * The calls running at one URL and model, by account, and those waiting for a slot. A free slot goes to the
 * waiting account with the fewest running calls, and among equals to the least recently served one: while any
 * account waits, none gets more than its share. The last free slots are for accounts with few running calls,
 * so that a few accounts with slow streams don't keep a backend from all others.
 */
export class BackendLoad {
  readonly health = new BackendHealth();
  readonly work = new ServerWork();
  private runningCount = 0;
  private waitingCount = 0;
  private readonly running = new Map<string, number>();
  /** By account, the least recently served first. */
  private readonly waiting = new Map<string, Set<Waiter>>();

  get inFlight(): number {
    return this.runningCount;
  }

  get waitingCalls(): number {
    return this.waitingCount;
  }

  get isIdle(): boolean {
    return this.runningCount === 0 && this.waitingCount === 0;
  }

  /** Takes a slot, if one is free for this account. Call the returned function once, to free it. */
  take(accountId: string, maxInFlight: number): (() => void) | undefined {
    return this.hasSlotFor({ accountId, maxInFlight }) ? this.start(accountId) : undefined;
  }

  /**
   * Queues a call that found no slot. When too many wait, the account with the most calls, running and
   * waiting, loses its latest, which may be this one. The returned function leaves the queue.
   */
  join(waiter: Waiter): () => void {
    const { accountId } = waiter;
    const queue = this.waiting.get(accountId) ?? new Set();
    this.waiting.set(accountId, queue.add(waiter));
    this.waitingCount += 1;
    if (this.waitingCount > Math.max(waiter.maxInFlight, LEAST_WAITING)) {
      const latest = this.latestOfLargest();
      if (latest) {
        this.leave(latest);
        latest.refuse();
      }
    }
    return () => this.leave(waiter);
  }

  private start(accountId: string): () => void {
    this.runningCount += 1;
    this.running.set(accountId, this.runningOf(accountId) + 1);
    return () => {
      this.runningCount -= 1;
      const left = this.runningOf(accountId) - 1;
      if (left > 0) this.running.set(accountId, left);
      else this.running.delete(accountId);
      this.grantFree();
    };
  }

  private grantFree(): void {
    for (let next = this.next(); next; next = this.next()) {
      const { accountId } = next;
      this.leave(next);
      const queue = this.waiting.get(accountId);
      if (queue) {
        // To the end, behind accounts with as few running calls.
        this.waiting.delete(accountId);
        this.waiting.set(accountId, queue);
      }
      next.grant(this.start(accountId));
    }
  }

  /** The call that gets the next slot, if there is one. */
  private next(): Waiter | undefined {
    let best: Waiter | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [accountId, queue] of this.waiting) {
      const running = this.runningOf(accountId);
      if (running >= fewest) continue;
      for (const waiter of queue) {
        if (!this.hasSlotFor(waiter)) continue;
        best = waiter;
        fewest = running;
        break;
      }
    }
    return best;
  }

  private hasSlotFor({ accountId, maxInFlight }: Pick<Waiter, 'accountId' | 'maxInFlight'>): boolean {
    return this.runningCount + sparedSlots(this.runningOf(accountId), maxInFlight) < maxInFlight;
  }

  /** The latest waiting call of the account with the most calls, running and waiting. */
  private latestOfLargest(): Waiter | undefined {
    let most = 0;
    let largest: ReadonlySet<Waiter> = new Set();
    for (const [accountId, queue] of this.waiting) {
      const count = this.runningOf(accountId) + queue.size;
      // Among equals the later account: the one that came first keeps its turn.
      if (count < most) continue;
      most = count;
      largest = queue;
    }
    return [...largest].at(-1);
  }

  private leave(waiter: Waiter): void {
    const queue = this.waiting.get(waiter.accountId);
    if (!queue?.delete(waiter)) return;
    this.waitingCount -= 1;
    if (queue.size === 0) this.waiting.delete(waiter.accountId);
  }

  private runningOf(accountId: string): number {
    return this.running.get(accountId) ?? 0;
  }
}
