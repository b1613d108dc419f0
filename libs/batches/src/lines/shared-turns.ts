/** Work that runs side by side, and work that runs while nothing else does. */
export class SharedTurns {
  private active = 0;
  private waiting = 0;
  private last: Promise<unknown> = Promise.resolve();
  private idle = Promise.withResolvers<void>();

  async shared<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.waiting > 0) await this.last.catch(() => undefined);
    this.active += 1;
    try {
      return await work();
    } finally {
      this.active -= 1;
      if (this.active === 0) this.idle.resolve();
    }
  }

  /** Runs after all that has begun, and before all that has not. */
  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    this.waiting += 1;
    const before = this.last;
    const turn = (async () => {
      await before.catch(() => undefined);
      while (this.active > 0) {
        this.idle = Promise.withResolvers();
        await this.idle.promise;
      }
      return work();
    })();
    this.last = turn;
    try {
      return await turn;
    } finally {
      this.waiting -= 1;
    }
  }
}
