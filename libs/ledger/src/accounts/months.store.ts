import { Injectable } from '@nestjs/common';
import { Database } from '@svc/storage';

/**
 * Keeps each month of the books as it is until the transaction ends: closing a month waits for it. Run it
 * first in a transaction with one snapshot, which then shows the months that are kept.
 */
export const KEEP_MONTHS =
  'LOCK TABLE ledger.charges, ledger.charge_lines, ledger.transfers IN ACCESS SHARE MODE';

/** Months created ahead of the current one. */
const AHEAD = 2;

/** The monthly partitions of the tables that grow with requests. */
@Injectable()
export class MonthsStore {
  /** Months known to exist, such as `2026-11`. A few dozen at most: a charge's time is within a century. */
  private readonly known = new Set<string>();

  constructor(private readonly database: Database) {}

  /** Creates missing partitions for these times (ISO 8601, UTC). */
  async ensure(times: Iterable<string>): Promise<void> {
    const missing = new Set<string>();
    for (const at of times) {
      const month = at.slice(0, 7);
      if (!this.known.has(month)) missing.add(month);
    }
    for (const month of missing) {
      await this.database.query('SELECT ledger.create_month($1::timestamptz)', [`${month}-01T00:00:00Z`]);
      this.known.add(month);
    }
  }

  /** Creates the partitions of this month and the coming ones. */
  async ensureAhead(now: Date): Promise<void> {
    const months = Array.from({ length: AHEAD + 1 }, (_, index) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + index)).toISOString(),
    );
    await this.ensure(months);
  }
}
