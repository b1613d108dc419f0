import { type CountedWindow, type LimitedWindow, type WindowCounts, noCounts } from './windows.js';

/** Windows remembered at most, and lengths of windows. Requests beyond that are counted in none. */
const MAX_WINDOWS = 1_000_000;
const MAX_LENGTHS = 100;

/** The counts of a window, and when a request last took of them, on a monotonic clock. */
export type TimedCounts = WindowCounts & { takenAtMs: number };

/** All windows of one length end together. */
interface Generation {
  endsAtMs: number;
  readonly counts: Map<string, TimedCounts>;
}

export interface OpenWindow extends CountedWindow {
  readonly counts: TimedCounts;
}

/** The counts of the windows that have not ended. */
export class OpenWindows {
  private readonly generations = new Map<number, Generation>();

  open(window: LimitedWindow, nowMs: number): OpenWindow {
    const { endsAtMs, counts: all } = this.generation(window.windowMs, nowMs);
    let counts = all.get(window.key);
    if (!counts) {
      counts = { ...noCounts(), takenAtMs: -Infinity };
      if (all.size < MAX_WINDOWS) all.set(window.key, counts);
    }
    return { window, counts, endsAtMs };
  }

  /** The counts of a window by its key and length, without remembering it. */
  read(key: string, windowMs: number, nowMs: number): Pick<CountedWindow, 'counts' | 'endsAtMs'> {
    const { endsAtMs, counts } = this.generation(windowMs, nowMs);
    return { counts: counts.get(key) ?? noCounts(), endsAtMs };
  }

  private generation(windowMs: number, nowMs: number): Generation {
    let generation = this.generations.get(windowMs);
    if (!generation) {
      generation = { endsAtMs: 0, counts: new Map() };
      if (this.generations.size < MAX_LENGTHS) this.generations.set(windowMs, generation);
    }
    const { endsAtMs, counts } = generation;
    // If the clock was set back a little, the current windows stay open.
    if (nowMs < endsAtMs && nowMs >= endsAtMs - 2 * windowMs) return generation;
    counts.clear();
    generation.endsAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    return generation;
  }
}
