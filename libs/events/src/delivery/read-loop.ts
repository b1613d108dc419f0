import { setTimeout as sleep } from 'node:timers/promises';

/** What a reader of the log does over and over. */
export interface ReadSteps {
  /** Handles what is next. Returns how long to wait before the next step, which news or `hurry` may end. */
  step(): Promise<Pause>;
  /** Told of a step that failed. Returns how long to wait before it is done again. */
  recover(error: unknown): Promise<number> | number;
}

export interface Pause {
  /** For this long, unless there is news. */
  readonly idleMs: number;
  /** And then for this long, so that more gathers, unless somebody is in a hurry. */
  readonly gatherMs?: number;
}

/** The loop of whoever reads the log: step after step until it is stopped, woken by news, never ended by a failure. */
export class ReadLoop {
  readonly #steps: ReadSteps;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #wake = Promise.withResolvers<void>();
  #hurry = Promise.withResolvers<void>();

  constructor(steps: ReadSteps) {
    this.#steps = steps;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Tells that there may be new events. */
  wake(): void {
    this.#wake.resolve();
  }

  /** Tells that somebody waits for what is stored to be handled. */
  hurry(): void {
    this.#hurry.resolve();
    this.#wake.resolve();
  }

  /** Begins no further step and resolves when the one in hand is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // What comes during a step counts, too.
      const wake = (this.#wake = Promise.withResolvers<void>());
      const hurry = (this.#hurry = Promise.withResolvers<void>());
      try {
        const { idleMs, gatherMs = 0 } = await this.#steps.step();
        await this.#pause(idleMs, wake.promise);
        await this.#pause(gatherMs, hurry.promise);
      } catch (error) {
        await this.#pause(await this.#steps.recover(error));
      }
    }
  }

  /** Waits, but not longer than until it is stopped. */
  async #pause(waitMs: number, until?: Promise<void>): Promise<void> {
    if (waitMs === 0) return;
    const pause = new AbortController();
    const signal = AbortSignal.any([pause.signal, this.#stop.signal]);
    const waited = sleep(waitMs, undefined, { signal }).catch(() => undefined);
    await Promise.race(until ? [waited, until] : [waited]);
    pause.abort();
  }
}
