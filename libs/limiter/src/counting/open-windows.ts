import { type CountedWindow, type LimitedWindow, type WindowCounts, noCounts } from './windows.js';

/** Windows remembered at most, and lengths of windows. Requests beyond that are counted in none. */
const MAX_WINDOWS = 1_000_000;
const MAX_LENGTHS = 100;

/** The counts of a window, and when a request last took of them, on a monotonic clock. */
export type TimedCounts = WindowCounts & { takenAtMs: number };

export interface OpenWindow extends CountedWindow {
  readonly counts: TimedCounts;
}

/** All windows of one length end together. */
interface Generation {
  endsAtMs: number;
  /** By the key of the window. */
  readonly open: Map<string, OpenWindow>;
}

/** The counts of the windows that have not ended. */
export class OpenWindows {
  private readonly generations = new Map<number, Generation>();

  /** The windows that a request counts in. */
  openAll(windows: readonly LimitedWindow[], nowMs: number): readonly OpenWindow[] {
    // Of the exact size: it is kept as long as the request runs.
    const opened = Array<OpenWindow>(windows.length);
    let count = 0;
    for (const window of windows) opened[count++] = this.open(window, nowMs);
    return opened;
  }

  private open(window: LimitedWindow, nowMs: number): OpenWindow {
    const { endsAtMs, open } = this.generation(window.windowMs, nowMs);
    const known = open.get(window.key);
    // Another request may count in the same window with other limits.
    if (known?.window === window) return known;
    const counts = known?.counts ?? { ...noCounts(), takenAtMs: -Infinity };
    const opened = { window, counts, endsAtMs };
    if (known || open.size < MAX_WINDOWS) open.set(window.key, opened);
    return opened;
  }

  /** The counts of a window by its key and length, without remembering it. */
  read(key: string, windowMs: number, nowMs: number): Pick<CountedWindow, 'counts' | 'endsAtMs'> {
    const { endsAtMs, open } = this.generation(windowMs, nowMs);
    return { counts: open.get(key)?.counts ?? noCounts(), endsAtMs };
  }

  private generation(windowMs: number, nowMs: number): Generation {
    let generation = this.generations.get(windowMs);
    if (!generation) {
      generation = { endsAtMs: 0, open: new Map() };
      if (this.generations.size < MAX_LENGTHS) this.generations.set(windowMs, generation);
    }
    const { endsAtMs, open } = generation;
    // If the clock was set back a little, the current windows stay open.
    if (nowMs < endsAtMs && nowMs >= endsAtMs - 2 * windowMs) return generation;
    open.clear();
    generation.endsAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    return generation;
  }
}
