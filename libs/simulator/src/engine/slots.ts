/** Thrown when both the slots and the queue are full. */
export class QueueFull extends Error {}

/** Grants a limited number of slots, first come first served, with a bounded queue. */
export class Slots {
  private taken = 0;
  private mostTaken = 0;
  private readonly waiting = new Set<() => void>();

  /** `limit` 0 means no limit. */
  constructor(
    readonly limit: number,
    readonly maxQueue: number,
  ) {}

  get used(): number {
    return this.taken;
  }

  get peak(): number {
    return this.mostTaken;
  }

  get queued(): number {
    return this.waiting.size;
  }

  /** Restarts the measurement of the peak. */
  resetPeak(): void {
    this.mostTaken = this.taken;
  }

  /** Takes a slot immediately; false if none is free. */
  tryTake(): boolean {
    if (this.limit > 0 && this.taken >= this.limit) return false;
    this.taken++;
    this.mostTaken = Math.max(this.mostTaken, this.taken);
    return true;
  }

  /**
   * Joins the queue: `granted` is called when the caller gets the slot. Throws `QueueFull`. The returned
   * function leaves the queue and returns whether the caller was still in it.
   */
  enqueue(granted: () => void): () => boolean {
    if (this.waiting.size >= this.maxQueue) throw new QueueFull();
    // Each entry is its own function, since a set would merge a callback that is used twice.
    const entry = (): void => granted();
    this.waiting.add(entry);
    return () => this.waiting.delete(entry);
  }

  /** Frees a slot; the first in the queue gets it. */
  release(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.taken--;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
