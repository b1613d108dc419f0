/** How long a window takes; what is reported is of the current one and the one before. */
const WINDOW_MS = 60_000;

/** Buckets of times, three for each doubling, from a millisecond to a quarter of an hour. */
const BUCKETS_PER_DOUBLING = 3;
const BUCKETS = 60;

class Window {
  calls = 0;
  failures = 0;
  /** The latest account with a failure, and whether another one had one too. */
  failedAccount: string | undefined;
  areSeveral = false;
  firstBytes = 0;
  readonly times = new Uint32Array(BUCKETS);

  clear(): void {
    this.calls = 0;
    this.failures = 0;
    this.failedAccount = undefined;
    this.areSeveral = false;
    this.firstBytes = 0;
    this.times.fill(0);
  }
}

/**
 * The calls of one to two minutes: how many failed, and the times to the first byte of streams, within an
 * eighth. It takes no memory for a call.
 */
export class RecentCalls {
  private current = new Window();
  private previous = new Window();
  private sinceMs = performance.now();

  succeeded(nowMs: number): void {
    this.turn(nowMs);
    this.current.calls += 1;
  }

  failed(accountId: string, nowMs: number): void {
    this.cut(accountId, nowMs);
    this.current.calls += 1;
  }

  /** A call failed that had begun well. */
  cut(accountId: string, nowMs: number): void {
    this.turn(nowMs);
    const { current } = this;
    current.failures += 1;
    current.areSeveral ||= current.failedAccount !== undefined && current.failedAccount !== accountId;
    current.failedAccount = accountId;
  }

  firstByteAfter(ms: number, nowMs: number): void {
    this.turn(nowMs);
    const bucket = Math.floor(Math.log2(Math.max(1, ms)) * BUCKETS_PER_DOUBLING);
    const { times } = this.current;
    const at = Math.min(bucket, BUCKETS - 1);
    times[at] = (times[at] ?? 0) + 1;
    this.current.firstBytes += 1;
  }

  /** Forgets all of them. */
  clear(): void {
    this.current.clear();
    this.previous.clear();
  }

  /** The calls, without those that clients ended or that were refused for what they asked. */
  get calls(): number {
    return this.current.calls + this.previous.calls;
  }

  /** The share of them that failed; `undefined` without any. */
  get failedShare(): number | undefined {
    const { calls } = this;
    return calls === 0 ? undefined : (this.current.failures + this.previous.failures) / calls;
  }

  /** Whether the requests of several accounts failed. */
  get failedForSeveral(): boolean {
    const { current, previous } = this;
    if (current.areSeveral || previous.areSeveral) return true;
    const [one, other] = [current.failedAccount, previous.failedAccount];
    return one !== undefined && other !== undefined && one !== other;
  }

  /** How many streams have begun. */
  get firstBytes(): number {
    return this.current.firstBytes + this.previous.firstBytes;
  }

  /** The time in which this share of the streams began, in milliseconds; `undefined` without any. */
  firstByteMs(share: number): number | undefined {
    const { firstBytes } = this;
    if (firstBytes === 0) return undefined;
    let left = Math.max(1, Math.ceil(firstBytes * share));
    for (let at = 0; at < BUCKETS; at += 1) {
      left -= (this.current.times[at] ?? 0) + (this.previous.times[at] ?? 0);
      if (left <= 0) return 2 ** ((at + 0.5) / BUCKETS_PER_DOUBLING);
    }
    return undefined;
  }

  /** Drops what has become old. Call it before reading. */
  turn(nowMs: number): void {
    const ageMs = nowMs - this.sinceMs;
    if (ageMs < WINDOW_MS) return;
    [this.current, this.previous] = [this.previous, this.current];
    this.current.clear();
    if (ageMs >= 2 * WINDOW_MS) this.previous.clear();
    this.sinceMs = nowMs;
  }
}
