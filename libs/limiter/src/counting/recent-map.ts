/** Remembers values for a time at least, or as many as it may. Every operation takes constant time. */
export class RecentMap<Value> {
  private current = new Map<string, Value>();
  private previous = new Map<string, Value>();
  private turnsAtMs = 0;

  /** Keeps a value for `keepMs` to twice that after it was set, and at least the latest `most` / 2. */
  constructor(
    private readonly keepMs: number,
    private readonly most: number,
  ) {}

  get size(): number {
    return this.current.size + this.previous.size;
  }

  get(key: string, nowMs: number): Value | undefined {
    this.turn(nowMs);
    return this.current.get(key) ?? this.previous.get(key);
  }

  set(key: string, value: Value, nowMs: number): void {
    this.turn(nowMs);
    this.current.set(key, value);
  }

  delete(key: string): void {
    this.current.delete(key);
    this.previous.delete(key);
  }

  private turn(nowMs: number): void {
    if (nowMs < this.turnsAtMs && this.current.size < this.most / 2) return;
    // What was not touched for twice the time is forgotten with the older half.
    this.previous = nowMs < this.turnsAtMs + this.keepMs ? this.current : new Map<string, Value>();
    this.current = new Map();
    this.turnsAtMs = nowMs + this.keepMs;
  }
}
