/** The tables that grow with requests, in the order in which postings lock them. */
export const MONTHLY = ['charges', 'charge_lines', 'transfers'] as const;
export type Monthly = (typeof MONTHLY)[number];

const DAY_MS = 86_400_000;

/** A month of the books (UTC), and the names of its tables as SQL. */
export class Month {
  readonly from: Date;
  readonly until: Date;
  private readonly suffix: string;

  /** Throws unless the name is like `2026-03`. */
  constructor(readonly name: string) {
    if (!/^20\d\d-(0[1-9]|1[0-2])$/.test(name)) throw new RangeError('The month must be like 2026-03');
    const [year = 0, month = 0] = name.split('-').map(Number);
    this.from = new Date(Date.UTC(year, month - 1));
    this.until = new Date(Date.UTC(year, month));
    this.suffix = name.replace('-', '_');
  }

  /** When the last day has been over for this number of days. */
  closesAt(days: number): Date {
    return new Date(this.until.getTime() + days * DAY_MS);
  }

  /** The partition. */
  table(of: Monthly): string {
    return `ledger.${this.nameOf(of)}`;
  }

  /** Its replacement, until it has the partition's name. */
  summary(of: Monthly): string {
    return `${this.table(of)}_closed`;
  }

  nameOf(of: Monthly): string {
    return `${of}_${this.suffix}`;
  }

  /** SQL: whether a time is in the month. */
  has(time: string): string {
    return `${time} >= '${this.from.toISOString()}' AND ${time} < '${this.until.toISOString()}'`;
  }

  /** SQL: whether a day is in the month. */
  hasDay(day: string): string {
    return `${day} >= '${dayOf(this.from)}' AND ${day} < '${dayOf(this.until)}'`;
  }
}

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
