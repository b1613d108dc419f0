import { within } from '@svc/runtime';

/** As long as the database lets a statement wait. */
const TURN_MS = 10_000;

/** What is done under one name in this process, one after the other. */
export class Turns {
  private readonly last = new Map<string, Promise<void>>();

  /** Runs `work` after all that came before it under the name. Rejects where its turn does not come in time. */
  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(name) ?? Promise.resolve();
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    // Who gives up leaves its place to those behind it, and lets nobody pass.
    const mine = before.then(() => done);
    this.last.set(name, mine);
    void mine.then(() => {
      if (this.last.get(name) === mine) this.last.delete(name);
    });
    try {
      await within(TURN_MS, before);
      return await work();
    } finally {
      end();
    }
  }
}
