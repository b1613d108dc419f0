/** A number that only grows. */
export class CounterCell {
  value = 0;

  /** What is not above zero is nothing, so that no fault in a sum makes the counter useless for good. */
  add(by = 1): void {
    if (by > 0) this.value += by;
  }
}

/** A number that is what it was set to last. */
export class GaugeCell {
  value = 0;

  set(value: number): void {
    this.value = value;
  }
}

/** How many values there were below each boundary, their number and their sum. */
export class HistogramCell {
  sum = 0;
  count = 0;
  /** One for each boundary, and one for what is beyond the last; not added up. */
  readonly counts: number[];

  constructor(private readonly boundaries: readonly number[]) {
    this.counts = Array<number>(boundaries.length + 1).fill(0);
  }

  record(value: number): void {
    if (!(value >= 0)) return;
    const { boundaries } = this;
    let low = 0;
    let high = boundaries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((boundaries[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    (this.counts[low] as number) += 1;
    this.sum += value;
    this.count += 1;
  }
}
