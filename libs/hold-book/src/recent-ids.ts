/** Remembers ids for a minimum time, or only the latest ones when there are too many. */
export class RecentIds {
  private current = new Set<string>();
  private previous = new Set<string>();
  private turnsAtMs = 0;

  /** Keeps an id for `keepMs` to twice that, but when there are too many at least the latest `most` / 2. */
  constructor(
    private readonly keepMs: number,
    private readonly most: number,
  ) {}

  add(id: string, nowMs: number): void {
    this.turn(nowMs);
    this.current.add(id);
  }

  has(id: string, nowMs: number): boolean {
    this.turn(nowMs);
    return this.current.has(id) || this.previous.has(id);
  }

  private turn(nowMs: number): void {
    if (nowMs < this.turnsAtMs && this.current.size < this.most / 2) return;
    this.previous = this.current;
    this.current = new Set();
    this.turnsAtMs = nowMs + this.keepMs;
  }
}
