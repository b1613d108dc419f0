/** What stands in place of a label's value that nobody vouches for, and of those beyond a family's bound. */
export const OTHER = '_OTHER';

/** No family has more series. */
const MOST_SERIES = 1_000;

/** What a metric is called and means. Its name and its labels are those of OpenTelemetry, its unit is of UCUM. */
export interface Descriptor<Labels extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly unit: string;
  /** What it tells. */
  readonly help: string;
  readonly labels: Labels;
  /** Labels with the same value on every series. */
  readonly constants?: Readonly<Record<string, string>>;
}

/** A value for each label. */
export type LabelValues<Labels extends readonly string[]> = { readonly [Index in keyof Labels]: string };

/** A cell and the values of its labels. */
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
 * The series of one metric. A cell is found by its labels' values without a string or an object being made, so that
 * it costs little on the way of a request.
 */
export class Family<Cell, Labels extends readonly string[]> {
  private readonly root: Branch<Cell> = branch();
  private readonly all: Series<Cell>[] = [];

  constructor(
    readonly descriptor: Descriptor<Labels>,
    private readonly make: () => Cell,
  ) {}

  /** The cell of these values; beyond the bound of series, the one that all others share. */
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
