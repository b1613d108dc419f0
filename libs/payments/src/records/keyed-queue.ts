import { within } from '@svc/runtime';

/** As long as the database's statement timeout. */
const WAIT_MS = 10_000;

/** A queue per name within this process. */
export class KeyedQueue {
  private readonly last = new Map<string, Promise<void>>();

  /**
   * Runs `work` after everything queued before it under the name. Rejects if its turn does not come in time.
   */
  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(name) ?? Promise.resolve();
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    // An entry that times out keeps its place in the order, so no later entry overtakes the running one.
    const mine = before.then(() => done);
    this.last.set(name, mine);
    void mine.then(() => {
      if (this.last.get(name) === mine) this.last.delete(name);
    });
    try {
      await within(WAIT_MS, before);
      return await work();
    } finally {
      end();
    }
  }
}
