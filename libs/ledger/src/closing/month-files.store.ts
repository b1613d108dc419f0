import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Database } from '@svc/storage';
import { stringify } from 'csv-stringify/sync';
import type { PoolClient, QueryConfig } from 'pg';
import { ClosingFault } from './closing-fault.js';
import type { MonthHashes, MonthTotals } from './closing.store.js';
import { type Monthly, MONTHLY, type Month } from './month.js';
import { type MonthPlace, storeProved } from './month-place.js';

/** Rows in memory at a time. */
const ROWS = 5_000;

/** An order that does not depend on how the rows are stored, so that a repeated export is the same. */
const ORDER: Readonly<Record<Monthly, string>> = {
  charges: 'id',
  charge_lines: 'request_id, at, line',
  transfers: 'id',
};

/**
 * Writes a frozen month as `charges.csv.gz` and so on, and `month.json` with the totals and the hash of each
 * file before it is compressed. Throws ClosingFault if rows are missing, or if a file reads back differently.
 */
export async function exportMonth(
  database: Database,
  month: Month,
  { place, totals }: { place: MonthPlace; totals: MonthTotals },
): Promise<MonthHashes> {
  const hashes = new Map<Monthly, Buffer>();
  for (const of of MONTHLY)
    hashes.set(
      of,
      await database.transaction((client) => writeTable(client, month, { of, place, rows: totals.rows[of] })),
    );
  const hashOf = (of: Monthly): Buffer => hashes.get(of) ?? Buffer.alloc(0);
  const written = {
    charges: hashOf('charges'),
    charge_lines: hashOf('charge_lines'),
    transfers: hashOf('transfers'),
  };
  await storeProved(place, 'month.json', Readable.from([Buffer.from(manifest(month, totals, written))]));
  return written;
}

interface Table {
  readonly of: Monthly;
  readonly place: MonthPlace;
  /** The number of rows that are expected. */
  readonly rows: bigint;
}

async function writeTable(client: PoolClient, month: Month, { of, place, rows }: Table): Promise<Buffer> {
  await client.query(
    `SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL statement_timeout = 0`,
  );
  await client.query(
    `DECLARE exported NO SCROLL CURSOR FOR SELECT * FROM ${month.table(of)} ORDER BY ${ORDER[of]}`,
  );
  const hash = createHash('sha256');
  let written = 0n;
  const texts = async function* (): AsyncGenerator<string> {
    for (;;) {
      const { rows: found, fields } = await client.query<(string | null)[]>(NEXT);
      const head = written === 0n ? [fields.map(({ name }) => name)] : [];
      if (found.length > 0 || head.length > 0) {
        const text = stringify([...head, ...found]);
        hash.update(text);
        yield text;
      }
      written += BigInt(found.length);
      if (found.length < ROWS) return;
    }
  };
  const compressed = createGzip();
  // A fault of the rows ends the compressed content with the same error, and so the storing.
  const compressing = pipeline(Readable.from(texts()), compressed).catch(() => undefined);
  await storeProved(place, `${of}.csv.gz`, compressed);
  await compressing;
  if (written !== rows) throw new ClosingFault(`${written} of ${rows} rows of ${of} were exported.`);
  return hash.digest();
}

/** The values as PostgreSQL writes them. */
const NEXT: QueryConfig & { rowMode: 'array' } = {
  text: `FETCH ${ROWS} FROM exported`,
  rowMode: 'array',
  types: { getTypeParser: () => (value: string) => value },
};

function manifest(month: Month, { rows, ...totals }: MonthTotals, hashes: MonthHashes): string {
  const content = {
    month: month.name,
    ...totals,
    files: MONTHLY.map((of) => ({ name: `${of}.csv`, rows: rows[of], sha256: hashes[of].toString('hex') })),
  };
  const plain = (_name: string, value: unknown): unknown =>
    typeof value === 'bigint' ? String(value) : value;
  return `${JSON.stringify(content, plain, 2)}\n`;
}
