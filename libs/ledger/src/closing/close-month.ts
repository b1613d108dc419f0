import { Database, createPool } from '@svc/storage';
import { AuditStore } from '../audit/audit.store.js';
import { ClosingFault } from './closing-fault.js';
import { ClosingStore, type MonthTotals, type Seal } from './closing.store.js';
import { Month } from './month.js';
import { exportMonth } from './month-files.store.js';
import type { MonthPlace } from './month-place.js';

export interface MonthToClose {
  readonly url: string;
  /** Such as `2026-03`. */
  readonly month: string;
  /** For the exported files of this month. */
  readonly place: MonthPlace;
  /** The number of days after its end. Until then its charges can be refunded. */
  readonly afterDays: number;
  /** Leaves the rows in the books, so that the files can be copied first. */
  readonly isExportOnly?: boolean;
  readonly now?: Date;
}

/** Statements over a month of rows. */
const STATEMENT_MS = 86_400_000;
/** Audits that find no moment without a writer store no mark. */
const AUDITS = 20;
/** Each is caused by a refund of the month while the summary was built. */
const SUMMARIES = 20;

/**
 * Closes a month: proves it, exports it, and replaces its charges by one for each account, day, key and
 * model. It can be repeated after a crash. Throws ClosingFault.
 */
export async function closeMonth({ url, ...wanted }: MonthToClose): Promise<Seal> {
  const pool = createPool(url, { name: 'close-month', max: 2, statementMs: STATEMENT_MS });
  const database = new Database(pool);
  try {
    return await close(database, wanted);
  } finally {
    await database.onApplicationShutdown();
  }
}

async function close(database: Database, wanted: Omit<MonthToClose, 'url'>): Promise<Seal> {
  const { place, afterDays, isExportOnly = false, now = new Date() } = wanted;
  const month = new Month(wanted.month);
  const store = new ClosingStore(database);
  if (month.closesAt(afterDays) > now)
    throw new ClosingFault(
      `${month.name} can be closed from ${month.closesAt(afterDays).toISOString()} on, ${afterDays} days after its end.`,
    );
  const state = await store.state(month);
  if (state === 'closed') throw new ClosingFault(`${month.name} is closed already.`);
  if (state === 'none') throw new ClosingFault(`The books have no month ${month.name}.`);
  await store.freeze(month);
  const totals = await proved(database, store, month);
  const seal = { ...totals, hashes: await exportMonth(database, month, { place, totals }) };
  if (!isExportOnly) await replace(store, month, seal);
  return seal;
}

/** If the month is wrong, it takes charges again. */
async function proved(database: Database, store: ClosingStore, month: Month): Promise<MonthTotals> {
  try {
    await audited(new AuditStore(database), store, month);
    return await store.prove(month);
  } catch (error) {
    if (error instanceof ClosingFault) await store.thaw(month);
    throw error;
  }
}

async function audited(audits: AuditStore, store: ClosingStore, month: Month): Promise<void> {
  for (let audit = 0; audit < AUDITS; audit += 1) {
    if (await store.isAudited(month)) return;
    const { ok, mismatches } = await audits.audit('new');
    if (!ok) throw new ClosingFault(['The books are wrong:', ...mismatches].join('\n'));
  }
  throw new ClosingFault('The books are too busy for an audit that covers the month. Repeat it later.');
}

async function replace(store: ClosingStore, month: Month, seal: Seal): Promise<void> {
  for (let attempt = 0; attempt < SUMMARIES; attempt += 1)
    if (await store.replace(month, seal, await store.summarise(month))) return;
  throw new ClosingFault(`Charges of ${month.name} are being refunded. Repeat it later.`);
}
