import { pause } from './pause.js';

/** The steps that a loop repeats. */
interface LoopSteps {
  /** Handles what is next. Returns the pause before the next step, which `wake` or `hurry` may end. */
  step(): Promise<Pause>;
  /** Called with the error of a failed step. Returns the delay in ms before the next attempt. */
  recover(error: unknown): Promise<number> | number;
}

export interface Pause {
  /** Waits this long, unless woken. 0: goes on at once. */
  readonly idleMs: number;
  /** Then waits this long so that more to do gathers, unless `hurry` is called. */
  readonly gatherMs?: number;
}

/** Runs step after step until stopped, can be woken early, and survives failures. */
export class StepLoop {
  private readonly steps: LoopSteps;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private woken = Promise.withResolvers<void>();
  private hurried = Promise.withResolvers<void>();

  constructor(steps: LoopSteps) {
    this.steps = steps;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Signals that there may be something to do. */
  wake(): void {
    this.woken.resolve();
  }

  /** Signals that a caller waits until all is done. */
  hurry(): void {
    this.hurried.resolve();
    this.woken.resolve();
  }

  /** Starts no further step, and resolves when the current one is done. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // Signals during a step count too.
      const wake = (this.woken = Promise.withResolvers<void>());
      const hurry = (this.hurried = Promise.withResolvers<void>());
      try {
        const { idleMs, gatherMs = 0 } = await this.steps.step();
        await pause(idleMs, signal, wake.promise);
        await pause(gatherMs, signal, hurry.promise);
      } catch (error) {
        await pause(await this.steps.recover(error), signal);
      }
    }
  }
}
