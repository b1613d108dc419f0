import { CounterCell, GaugeCell, HistogramCell } from './cells.js';
import { type Descriptor, Family, type LabelValues } from './family.js';

/** A value that is read when somebody collects, with those of its labels. */
type Reading<Labels extends readonly string[]> = readonly [number, ...LabelValues<Labels>];

type Read<Labels extends readonly string[]> = () => Iterable<Reading<Labels>>;

/** One value of a counter or a gauge. */
interface NumberPoint {
  readonly values: readonly string[];
  readonly value: number;
}

/** One distribution. */
export interface HistogramPoint {
  readonly values: readonly string[];
  readonly cell: HistogramCell;
}

/** What is the same for counters and gauges: values that are kept, and values that are read when they are asked for. */
abstract class NumberMetric<Cell extends CounterCell | GaugeCell, const Labels extends readonly string[]> {
  private readonly readers = new Set<Read<Labels>>();
  protected readonly family: Family<Cell, Labels>;

  constructor(
    readonly descriptor: Descriptor<Labels>,
    make: () => Cell,
  ) {
    this.family = new Family(descriptor, make);
  }

  /** The cell of these labels, to be kept by whoever uses it often. */
  with(...values: LabelValues<Labels>): Cell {
    return this.family.with(...values);
  }

  /** From now on reads these values when somebody collects. Gives what ends that. */
  observe(read: Read<Labels>): () => void {
    this.readers.add(read);
    return () => this.readers.delete(read);
  }

  /** What there is; values with the same labels are added up. */
  points(): readonly NumberPoint[] {
    const kept = this.family.series().map(({ values, cell }) => ({ values, value: cell.value }));
    if (this.readers.size === 0) return kept;
    const sums = new Map<string, { values: readonly string[]; value: number }>();
    for (const point of [...kept, ...this.read()]) {
      const key = point.values.join('\0');
      const sum = sums.get(key);
      if (sum) sum.value += point.value;
      else sums.set(key, { ...point });
    }
    return [...sums.values()];
  }

  private *read(): Iterable<NumberPoint> {
    for (const read of this.readers) {
      for (const [value, ...values] of read()) if (Number.isFinite(value)) yield { values, value };
    }
  }
}

/** Counts what happens. */
export class Counter<const Labels extends readonly string[] = readonly string[]> extends NumberMetric<
  CounterCell,
  Labels
> {
  readonly kind = 'counter';

  /**
   * `starts` are series that stand at zero from the start, so that their first event is seen as an increase; so does the one
   * of a counter without labels.
   */
  constructor(descriptor: Descriptor<Labels>, starts: readonly LabelValues<Labels>[] = []) {
    super(descriptor, () => new CounterCell());
    for (const values of starts) this.with(...values);
    if (descriptor.labels.length === 0) this.with(...([] as unknown as LabelValues<Labels>));
  }

  add(by: number, ...values: LabelValues<Labels>): void {
    this.family.with(...values).add(by);
  }
}

/** Tells how something stands. */
export class Gauge<const Labels extends readonly string[] = readonly string[]> extends NumberMetric<
  GaugeCell,
  Labels
> {
  readonly kind = 'gauge';

  constructor(descriptor: Descriptor<Labels>) {
    super(descriptor, () => new GaugeCell());
  }

  set(value: number, ...values: LabelValues<Labels>): void {
    this.family.with(...values).set(value);
  }
}

/** Tells how values are distributed. */
export class Histogram<const Labels extends readonly string[] = readonly string[]> {
  readonly kind = 'histogram';
  private readonly family: Family<HistogramCell, Labels>;

  constructor(
    readonly descriptor: Descriptor<Labels>,
    readonly boundaries: readonly number[],
  ) {
    this.family = new Family(descriptor, () => new HistogramCell(boundaries));
  }

  /** The cell of these labels, to be kept by whoever uses it often. */
  with(...values: LabelValues<Labels>): HistogramCell {
    return this.family.with(...values);
  }

  record(value: number, ...values: LabelValues<Labels>): void {
    this.family.with(...values).record(value);
  }

  points(): readonly HistogramPoint[] {
    return this.family.series();
  }
}

export type Metric = Counter | Gauge | Histogram;
