import { events } from '@svc/telemetry';

/** How far a log and a group are, by partition. */
export interface Positions {
  /** After the newest event of each partition that has any. */
  readonly ends: ReadonlyMap<number, bigint>;
  /** After the last event that the group has handled. */
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

/** How often it is looked how far a group is, and so how exact an age is. */
const LOOK_EVERY_MS = 5_000;

/** Ends that a group has not reached: of an hour. Of more the oldest is kept, and of the others every second one. */
const MOST_SIGHTS = 720;

/**
 * Tells how far a group is behind, and for how long: as long as it has not reached what was the log's end at some
 * moment, some event of that moment waits. Where the log can't be asked the age grows on.
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
    // It never rejects.
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const end of this.#ends) end();
  }

  /** The age of the oldest event that waits; 0 where none does. */
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
      // The log is away, which its own metrics tell.
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
