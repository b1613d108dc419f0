/** Thrown when both the slots and the queue are full. */
export class QueueFull extends Error {}

/** Hands out a bounded number of slots, first come first served, with a bounded queue before them. */
export class Slots {
  #used = 0;
  #peak = 0;
  readonly #waiting = new Set<() => void>();

  /** `limit` 0 means no limit. */
  constructor(
    readonly limit: number,
    readonly maxQueue: number,
  ) {}

  get used(): number {
    return this.#used;
  }

  get peak(): number {
    return this.#peak;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Measures the peak anew from here. */
  resetPeak(): void {
    this.#peak = this.#used;
  }

  /** Takes a slot at once; false when none is free. */
  tryTake(): boolean {
    if (this.limit > 0 && this.#used >= this.limit) return false;
    this.#used++;
    this.#peak = Math.max(this.#peak, this.#used);
    return true;
  }

  /**
   * Joins the queue: `granted` is called when the slot is the caller's. Throws `QueueFull`.
   * The returned function leaves the queue and is true when the caller was still in it.
   */
  enqueue(granted: () => void): () => boolean {
    if (this.#waiting.size >= this.maxQueue) throw new QueueFull();
    // Each entry is its own function, since a set would fold one callback used twice.
    const entry = (): void => granted();
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  }

  /** Gives a slot back; the first in the queue gets it. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#used--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
