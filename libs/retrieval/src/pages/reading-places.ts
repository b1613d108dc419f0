import { PageUnread } from '@svc/contracts/ports';
import { FairQueue } from '@svc/threads';

interface Waiter {
  readonly account: string;
  readonly enter: () => void;
  readonly leave: (reason: unknown) => void;
}

/**
 * Limits the pages that are read at once, and thereby their memory. Accounts take turns, so that an account
 * whose pages hang delays others by no more than its turn.
 */
export class ReadingPlaces {
  private readonly queue = new FairQueue<Waiter>();
  private taken = 0;

  constructor(
    private readonly places: number,
    private readonly queueLimit: number,
  ) {}

  /** Does the work when a slot is free. Throws PageUnread if too much waits, or the signal's reason. */
  async take<Result>(account: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const waiter = await this.enter(account, signal);
    try {
      return await work();
    } finally {
      this.taken -= 1;
      this.queue.done(waiter);
      this.next();
    }
  }

  private async enter(account: string, signal: AbortSignal): Promise<Waiter> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { account, enter: resolve, leave: reject };
    const leave = (): void => {
      if (this.queue.remove(waiter)) reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    const free = this.places - this.taken;
    this.queue.push(waiter, free + this.queueLimit)?.leave(new PageUnread('too many pages are being read'));
    this.next();
    try {
      await promise;
      return waiter;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  private next(): void {
    while (this.taken < this.places) {
      const waiter = this.queue.shift();
      if (!waiter) return;
      this.taken += 1;
      waiter.enter();
    }
  }
}
