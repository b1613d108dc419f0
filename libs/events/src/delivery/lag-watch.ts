import { events } from '@svc/telemetry';

/** The positions of a log and of a group, by partition. */
export interface Positions {
  /** The offset after the newest event of each partition that has any. */
  readonly ends: ReadonlyMap<number, bigint>;
  /** The offset after the last event that the group has handled. */
  readonly handled: ReadonlyMap<number, bigint>;
}

interface Watched {
  readonly topic: string;
  readonly group: string;
  positions(): Promise<Positions>;
}

interface Sight {
  readonly atMs: number;
  readonly ends: Positions['ends'];
}

/** How often a group's position is read; also the precision of an age. */
const LOOK_EVERY_MS = 5_000;

/**
 * Maximum number of ends that a group has not reached: one hour. Beyond it the oldest is kept, and every
 * second of the others.
 */
const MOST_SIGHTS = 720;

/**
 * Measures how far a group is behind, and since when: until the group reaches what was the log's end at some
 * moment, some event of that moment is waiting. While the log can't be read, the age keeps growing.
 */
export class LagWatch {
  readonly #watched: Watched;
  #sights: Sight[] = [];
  #lag = 0n;
  #isLooking = false;
  #timer: NodeJS.Timeout | undefined;
  #ends: readonly (() => void)[] = [];

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  start(): void {
    const { topic, group } = this.#watched;
    this.#ends = [
      events.lag.observe(() => [[Number(this.#lag), topic, group]]),
      events.oldest.observe(() => [[this.oldestMs / 1_000, topic, group]]),
    ];
    // Never rejects.
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const end of this.#ends) end();
  }

  /** The age of the oldest waiting event in ms; 0 if no event waits. */
  get oldestMs(): number {
    const [oldest] = this.#sights;
    return oldest ? performance.now() - oldest.atMs : 0;
  }

  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const atMs = performance.now();
      const { ends, handled } = await this.#watched.positions();
      this.#lag = lagOf(ends, handled);
      this.#sights = [...this.#sights, { atMs, ends }].filter((sight) => lagOf(sight.ends, handled) > 0n);
      if (this.#sights.length > MOST_SIGHTS)
        this.#sights = this.#sights.filter((_sight, index) => index % 2 === 0);
    } catch {
      // The log is down, which its own metrics report.
    } finally {
      this.#isLooking = false;
    }
  }
}

function lagOf(ends: Positions['ends'], handled: Positions['handled']): bigint {
  let lag = 0n;
  for (const [partition, end] of ends) {
    const behind = end - (handled.get(partition) ?? 0n);
    if (behind > 0n) lag += behind;
  }
  return lag;
}
