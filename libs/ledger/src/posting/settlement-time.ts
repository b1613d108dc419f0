/** A commit of the event log that takes longer counts as failed. */
export const LOG_MS = 5_000;
/** A disk that takes longer to store an entry counts as failed. */
const JOURNAL_MS = 2_000;

/** The time budget of one settlement, shared by all its steps, however late their timers fire. */
export class SettlementTime {
  private readonly endMs: number;

  /** `directMs` is how long a charge may wait to be posted directly. */
  constructor(
    startMs: number,
    private readonly directMs: number,
  ) {
    this.endMs = startMs + LOG_MS + directMs + JOURNAL_MS;
  }

  get forPosting(): number {
    return this.atMost(this.directMs, JOURNAL_MS);
  }

  /** For all the work of a refusal. */
  get forRefusal(): number {
    return this.atMost(JOURNAL_MS, 0);
  }

  /** The last fallback gets its full time even if the others overran theirs. */
  readonly forJournal = JOURNAL_MS;

  private atMost(ms: number, reservedMs: number): number {
    return Math.max(0, Math.min(ms, this.endMs - reservedMs - performance.now()));
  }
}
