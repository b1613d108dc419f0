import { CounterInstrument, GaugeInstrument, HistogramInstrument } from './instruments.js';
import { type Descriptor, MetricSeries, type LabelValues } from './metric-series.js';

/** A value that is read at collection, with its label values. */
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
  readonly instrument: HistogramInstrument;
}

/** Common to counters and gauges: stored values, and values that are read at collection. */
abstract class NumberMetric<
  Instrument extends CounterInstrument | GaugeInstrument,
  const Labels extends readonly string[],
> {
  private readonly readers = new Set<Read<Labels>>();
  protected readonly series: MetricSeries<Instrument, Labels>;

  constructor(
    readonly descriptor: Descriptor<Labels>,
    make: () => Instrument,
  ) {
    this.series = new MetricSeries(descriptor, make);
  }

  /** The instrument for these labels; frequent callers should keep it. */
  with(...values: LabelValues<Labels>): Instrument {
    return this.series.with(values);
  }

  /** Reads these values at every collection. Returns a function that ends that. */
  observe(read: Read<Labels>): () => void {
    this.readers.add(read);
    return () => this.readers.delete(read);
  }

  /** All current values; those with equal labels are summed. */
  points(): readonly NumberPoint[] {
    const kept = this.series.list().map(({ values, instrument }) => ({ values, value: instrument.value }));
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

/** Counts events. */
export class Counter<const Labels extends readonly string[] = readonly string[]> extends NumberMetric<
  CounterInstrument,
  Labels
> {
  readonly kind = 'counter';

  /**
   * `starts` are series that begin at zero, so that their first event shows as an increase; so does the
   * series of a counter without labels.
   */
  constructor(descriptor: Descriptor<Labels>, starts: readonly LabelValues<Labels>[] = []) {
    super(descriptor, () => new CounterInstrument());
    for (const values of starts) this.with(...values);
    if (descriptor.labels.length === 0) this.series.with([] as unknown as LabelValues<Labels>);
  }

  add(by: number, ...values: LabelValues<Labels>): void {
    this.series.with(values).add(by);
  }
}

/** Reports a current value. */
export class Gauge<const Labels extends readonly string[] = readonly string[]> extends NumberMetric<
  GaugeInstrument,
  Labels
> {
  readonly kind = 'gauge';

  constructor(descriptor: Descriptor<Labels>) {
    super(descriptor, () => new GaugeInstrument());
  }

  set(value: number, ...values: LabelValues<Labels>): void {
    this.series.with(values).set(value);
  }
}

/** Reports how values are distributed. */
export class Histogram<const Labels extends readonly string[] = readonly string[]> {
  readonly kind = 'histogram';
  private readonly series: MetricSeries<HistogramInstrument, Labels>;

  constructor(
    readonly descriptor: Descriptor<Labels>,
    readonly boundaries: readonly number[],
  ) {
    this.series = new MetricSeries(descriptor, () => new HistogramInstrument(boundaries));
  }

  /** The instrument for these labels; frequent callers should keep it. */
  with(...values: LabelValues<Labels>): HistogramInstrument {
    return this.series.with(values);
  }

  record(value: number, ...values: LabelValues<Labels>): void {
    this.series.with(values).record(value);
  }

  points(): readonly HistogramPoint[] {
    return this.series.list();
  }
}

export type Metric = Counter | Gauge | Histogram;
