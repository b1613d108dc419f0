import { pause } from './pause.js';

/** The steps a log reader repeats. */
export interface ReadSteps {
  /** Handles what is next. Returns the pause before the next step, which `wake` or `hurry` may end. */
  step(): Promise<Pause>;
  /** Called with the error of a failed step. Returns the delay in ms before the next attempt. */
  recover(error: unknown): Promise<number> | number;
}

export interface Pause {
  /** Waits this long, unless woken. */
  readonly idleMs: number;
  /** Then waits this long so that more events gather, unless `hurry` is called. */
  readonly gatherMs?: number;
}

/**
 * The loop of a log reader: runs step after step until stopped, can be woken early, and survives failures.
 */
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

  /** Signals that there may be new events. */
  wake(): void {
    this.#wake.resolve();
  }

  /** Signals that a caller waits for stored events to be handled. */
  hurry(): void {
    this.#hurry.resolve();
    this.#wake.resolve();
  }

  /** Starts no further step, and resolves when the current one is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Signals during a step count too.
      const wake = (this.#wake = Promise.withResolvers<void>());
      const hurry = (this.#hurry = Promise.withResolvers<void>());
      try {
        const { idleMs, gatherMs = 0 } = await this.#steps.step();
        await pause(idleMs, signal, wake.promise);
        await pause(gatherMs, signal, hurry.promise);
      } catch (error) {
        await pause(await this.#steps.recover(error), signal);
      }
    }
  }
}
