/** The event log gives up by itself after this time, unless its process is starved. */
const LOG_MS = 5_000;
/** A disk that takes longer to keep an entry does not answer. */
const JOURNAL_MS = 2_000;

/** The time that one settlement has for all the ways of its charge: its steps share it, however late their timers are. */
export class SettlementTime {
  private readonly endMs: number;

  /** `directMs` is how long a charge may wait to be posted directly. */
  constructor(private readonly directMs: number) {
    this.endMs = performance.now() + LOG_MS + directMs + JOURNAL_MS;
  }

  get forLog(): number {
    return this.atMost(LOG_MS, JOURNAL_MS);
  }

  get forPosting(): number {
    return this.atMost(this.directMs, JOURNAL_MS);
  }

  /** For whatever is done to refuse. */
  get forRefusal(): number {
    return this.atMost(JOURNAL_MS, 0);
  }

  /** The last way of a charge has its time even if the others took longer than theirs. */
  readonly forJournal = JOURNAL_MS;

  private atMost(ms: number, reservedMs: number): number {
    return Math.max(0, Math.min(ms, this.endMs - reservedMs - performance.now()));
  }
}
