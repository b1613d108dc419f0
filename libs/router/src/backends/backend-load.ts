import { BackendRest } from './backend-rest.js';

/** Calls that may wait for a backend with few places; others have as many as they have places. */
const LEAST_WAITING = 16;

/** Waits for a place at a backend. Each is granted or refused once, unless it leaves before. */
export interface Waiter {
  readonly accountId: string;
  /** It gets a place only while fewer calls than this are running. */
  readonly maxInFlight: number;
  /** Takes the place; called with the function that gives it back. */
  readonly grant: (giveBack: () => void) => void;
  /** The queue is full, and other accounts have less. */
  readonly refuse: () => void;
}

/**
 * The calls running at one URL and model, by account, and those that wait for a place. A place that becomes free goes
 * to the waiting account with the fewest calls running, the one served least recently first: while any account waits,
 * none gets more than its share.
 */
export class BackendLoad {
  readonly rest = new BackendRest();
  private runningCount = 0;
  private waitingCount = 0;
  private readonly running = new Map<string, number>();
  /** By account, the one served least recently first. */
  private readonly waiting = new Map<string, Set<Waiter>>();

  get inFlight(): number {
    return this.runningCount;
  }

  get isIdle(): boolean {
    return this.runningCount === 0 && this.waitingCount === 0;
  }

  /** Takes a place, if there is one; what it returns is called once, to give it back. */
  take(accountId: string, maxInFlight: number): (() => void) | undefined {
    return this.runningCount < maxInFlight ? this.start(accountId) : undefined;
  }

  /**
   * Queues a call that found no place. When too many wait, the account that has most, running and waiting, loses its
   * latest, which may be this one. What it returns leaves the queue.
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
        // Behind the others, where they have as few calls running.
        this.waiting.delete(accountId);
        this.waiting.set(accountId, queue);
      }
      next.grant(this.start(accountId));
    }
  }

  /** The call that gets the next place, if there is one for it. */
  private next(): Waiter | undefined {
    let best: Waiter | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [accountId, queue] of this.waiting) {
      const running = this.runningOf(accountId);
      if (running >= fewest) continue;
      for (const waiter of queue) {
        if (this.runningCount >= waiter.maxInFlight) continue;
        best = waiter;
        fewest = running;
        break;
      }
    }
    return best;
  }

  /** The latest waiting call of the account that has most calls, running and waiting. */
  private latestOfLargest(): Waiter | undefined {
    let most = 0;
    let largest: ReadonlySet<Waiter> = new Set();
    for (const [accountId, queue] of this.waiting) {
      const count = this.runningOf(accountId) + queue.size;
      // Of equals the later one: the account that came first keeps its turn.
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
