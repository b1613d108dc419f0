/** A number that only grows. */
export class CounterInstrument {
  value = 0;

  /** Ignores values that are not above zero, so that a faulty sum cannot break the counter permanently. */
  add(by = 1): void {
    if (by > 0) this.value += by;
  }
}

/** A number that keeps its last value. */
export class GaugeInstrument {
  value = 0;

  set(value: number): void {
    this.value = value;
  }
}

/** The exported span that a value was measured in. */
export interface MeasuredSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
}

/** A value with the span it was measured in, so that a chart can link to its trace. */
export interface Exemplar extends MeasuredSpan {
  readonly value: number;
  /** Unix time. */
  readonly atMs: number;
}

/** The number of values in each bucket, their total number, and their sum. */
export class HistogramInstrument {
  sum = 0;
  count = 0;
  /** One for each boundary, and one for values above the last; not cumulative. */
  readonly counts: number[];
  /** The latest of each bucket, by the bucket's index. */
  readonly exemplars = new Map<number, Exemplar>();

  constructor(private readonly boundaries: readonly number[]) {
    this.counts = Array<number>(boundaries.length + 1).fill(0);
  }

  /** Pass `span` only if it is exported: an exemplar must not link to a missing trace. */
  record(value: number, span?: MeasuredSpan): void {
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
    if (!span) return;
    const { traceId, spanId } = span;
    this.exemplars.set(low, { value, traceId, spanId, atMs: Date.now() });
  }
}
