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
  /** Labels with the same value on every series. */
  readonly constants?: Readonly<Record<string, string>>;
}

/** A value for each label. */
export type LabelValues<Labels extends readonly string[]> = { readonly [Index in keyof Labels]: string };

/** An instrument and the values of its labels. */
export interface Series<Cell> {
  readonly values: readonly string[];
  readonly cell: Cell;
}

interface Branch<Cell> {
  cell?: Cell;
  readonly below: Map<string, Branch<Cell>>;
}

const branch = <Cell>(): Branch<Cell> => ({ below: new Map() });

/**
 * The series of one metric. An instrument is found by its label values without allocating a string or an
 * object, so that it is cheap within a request.
 */
export class Family<Cell, Labels extends readonly string[]> {
  private readonly root: Branch<Cell> = branch();
  private readonly all: Series<Cell>[] = [];

  constructor(
    readonly descriptor: Descriptor<Labels>,
    private readonly make: () => Cell,
  ) {}

  /** The instrument for these values; beyond the series limit, the one that all others share. */
  with(...values: LabelValues<Labels>): Cell {
    let at = this.root;
    for (const value of values) {
      let next = at.below.get(value);
      if (next === undefined) {
        if (this.all.length >= MOST_SERIES) return this.others();
        at.below.set(value, (next = branch()));
      }
      at = next;
    }
    return (at.cell ??= this.add(values));
  }

  series(): readonly Series<Cell>[] {
    return this.all;
  }

  private add(values: readonly string[]): Cell {
    const cell = this.make();
    this.all.push({ values, cell });
    return cell;
  }

  private overflow: Cell | undefined;

  private others(): Cell {
    return (this.overflow ??= this.add(this.descriptor.labels.map(() => OTHER)));
  }
}
