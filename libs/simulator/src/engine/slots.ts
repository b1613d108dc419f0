/** Thrown when both the slots and the queue are full. */
export class QueueFull extends Error {}

/** Grants a limited number of slots, first come first served, with a bounded queue. */
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

  /** Restarts the measurement of the peak. */
  resetPeak(): void {
    this.#peak = this.#used;
  }

  /** Takes a slot immediately; false if none is free. */
  tryTake(): boolean {
    if (this.limit > 0 && this.#used >= this.limit) return false;
    this.#used++;
    this.#peak = Math.max(this.#peak, this.#used);
    return true;
  }

  /**
   * Joins the queue: `granted` is called when the caller gets the slot. Throws `QueueFull`. The returned
   * function leaves the queue and returns whether the caller was still in it.
   */
  enqueue(granted: () => void): () => boolean {
    if (this.#waiting.size >= this.maxQueue) throw new QueueFull();
    // Each entry is its own function, since a set would merge a callback that is used twice.
    const entry = (): void => granted();
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  }

  /** Frees a slot; the first in the queue gets it. */
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
