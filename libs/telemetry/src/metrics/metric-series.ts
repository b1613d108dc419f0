/** Replaces label values from untrusted sources, and those beyond a metric's series limit. */
export const OTHER = '_OTHER';

/** The most series of a metric. */
const MOST_SERIES = 1_000;

/** The name and meaning of a metric. Name and labels follow OpenTelemetry, the unit UCUM. */
export interface Descriptor<Labels extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly unit: string;
  /** Its description. */
  readonly help: string;
  readonly labels: Labels;
  /**
   * Whether the values of a gauge's series and processes have a meaningful sum, which OpenTelemetry calls an
   * UpDownCounter.
   */
  readonly addsUp?: boolean;
  /** Labels with the same value on every series. */
  readonly constants?: Readonly<Record<string, string>>;
}

/** A value for each label. */
export type LabelValues<Labels extends readonly string[]> = { readonly [Index in keyof Labels]: string };

/** An instrument and the values of its labels. */
export interface Series<Instrument> {
  readonly values: readonly string[];
  readonly instrument: Instrument;
}

interface Branch<Instrument> {
  instrument?: Instrument;
  readonly below: Map<string, Branch<Instrument>>;
}

const branch = <Instrument>(): Branch<Instrument> => ({ below: new Map() });

/**
 * The series of one metric. An instrument is found by its label values without allocating a string or an
 * object, so that it is cheap within a request.
 */
export class MetricSeries<Instrument, Labels extends readonly string[]> {
  private readonly root: Branch<Instrument> = branch();
  private readonly all: Series<Instrument>[] = [];

  constructor(
    readonly descriptor: Descriptor<Labels>,
    private readonly make: () => Instrument,
  ) {}

  /** The instrument for these values; beyond the series limit, the one that all others share. */
  with(values: LabelValues<Labels>): Instrument {
    let at = this.root;
    for (const value of values) {
      let next = at.below.get(value);
      if (next === undefined) {
        if (this.all.length >= MOST_SERIES) return this.others();
        at.below.set(value, (next = branch()));
      }
      at = next;
    }
    return (at.instrument ??= this.add(values));
  }

  list(): readonly Series<Instrument>[] {
    return this.all;
  }

  private add(values: readonly string[]): Instrument {
    const instrument = this.make();
    this.all.push({ values, instrument });
    return instrument;
  }

  private overflow: Instrument | undefined;

  private others(): Instrument {
    return (this.overflow ??= this.add(this.descriptor.labels.map(() => OTHER)));
  }
}
