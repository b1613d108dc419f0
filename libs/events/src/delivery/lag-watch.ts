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
  /** When the oldest event was stored that this process has read and not handled yet, as Unix time. */
  readonly unhandledSinceMs: number | undefined;
  /** Grows with each sign of a new event; absent if events of other processes give none. */
  readonly signs?: number;
  positions(): Promise<Positions>;
}

interface Sight {
  readonly atMs: number;
  readonly ends: Positions['ends'];
}

/** How often a group's position is read. */
const LOOK_EVERY_MS = 5_000;
/** The same for a group that has handled everything, while there is no sign of a new event. */
const LOOK_IDLE_MS = 300_000;

/**
 * Maximum number of ends that a group has not reached: one hour. Beyond it the oldest is kept, and every
 * second of the others.
 */
const MOST_SIGHTS = 720;

/**
 * Measures how far a group is behind, and since when. The age of an event that this process has read is exact
 * at every moment, since the log says when it was stored. The positions of the log and the group, which are
 * read regularly, limit it from both sides: until the group reaches what was the log's end at some moment, an
 * event of that moment is waiting, wherever it is; once it has, all waiting events are younger. While the log
 * can't be read, the age keeps growing.
 */
export class LagWatch {
  private readonly watched: Watched;
  /** Ends that the group had not reached when they were last compared, oldest first. */
  private sights: Sight[] = [];
  /** When the log's last end was read that the group has reached. */
  private reachedAtMs = -Infinity;
  /** When the positions were last read. */
  private lookedAtMs = -Infinity;
  private isBlind = false;
  private lookedAtSigns: number | undefined;
  private lag = 0n;
  private isLooking = false;
  private timer: NodeJS.Timeout | undefined;
  private ends: readonly (() => void)[] = [];

  constructor(watched: Watched) {
    this.watched = watched;
  }

  start(): void {
    const { topic, group } = this.watched;
    this.ends = [
      events.lag.observe(() => [[Number(this.lag), topic, group]]),
      events.oldest.observe(() => [[this.oldestMs / 1_000, topic, group]]),
    ];
    // Never rejects.
    this.timer = setInterval(() => {
      if (!this.isAtRest) void this.look();
    }, LOOK_EVERY_MS).unref();
  }

  private get isAtRest(): boolean {
    const { signs } = this.watched;
    const isRecent = performance.now() - this.lookedAtMs < LOOK_IDLE_MS;
    return signs !== undefined && signs === this.lookedAtSigns && this.lag === 0n && isRecent;
  }

  stop(): void {
    clearInterval(this.timer);
    for (const end of this.ends) end();
  }

  /** The age of the oldest waiting event in ms; 0 if no event waits. */
  get oldestMs(): number {
    const nowMs = performance.now();
    const sinceMs = this.watched.unhandledSinceMs;
    // The clock of the log may differ from ours.
    const ownMs = sinceMs === undefined ? 0 : Math.max(0, Date.now() - sinceMs);
    const [oldest] = this.sights;
    const untilMs = this.isBlind ? nowMs : this.lookedAtMs;
    const leastMs = oldest ? untilMs - oldest.atMs : 0;
    return Math.min(Math.max(ownMs, leastMs), nowMs - this.reachedAtMs);
  }

  async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      const atMs = performance.now();
      this.lookedAtSigns = this.watched.signs;
      const { ends, handled } = await this.watched.positions();
      const isWaiting = (sight: Sight): boolean => lagOf(sight.ends, handled) > 0n;
      const sights = [...this.sights, { atMs, ends }];
      // Ends only grow, so those that the group has reached come first.
      this.reachedAtMs = sights.findLast((sight) => !isWaiting(sight))?.atMs ?? this.reachedAtMs;
      this.sights = sights.filter(isWaiting);
      this.lag = lagOf(ends, handled);
      this.lookedAtMs = atMs;
      this.isBlind = false;
      if (this.sights.length > MOST_SIGHTS)
        this.sights = this.sights.filter((_sight, index) => index % 2 === 0);
    } catch {
      // The log is down, which its own metrics report.
      this.isBlind = true;
    } finally {
      this.isLooking = false;
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
