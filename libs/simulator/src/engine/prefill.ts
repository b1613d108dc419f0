/** Prompts that are computed one after the other, as by an engine that gives each its whole capacity. */
export class SerialPrefill {
  private freeMs = 0;

  /** Adds a prompt behind the others. Returns how long it waits for them. */
  add(durationMs: number, nowMs: number): number {
    const startMs = Math.max(nowMs, this.freeMs);
    this.freeMs = startMs + durationMs;
    return startMs - nowMs;
  }
}
