// Closes a month of the books of DATABASE_URL: `npm run close-month -- 2026-03 --to FOLDER` proves it, writes
// its charges to FOLDER/2026-03, and replaces them by one for each account, day, key and model. With
// --export-only the charges stay, so that the files can be copied first.
import { parseArgs } from 'node:util';
import { closeMonth, closeMonthConfig } from '@svc/ledger';
import { loadConfig } from '@svc/runtime';

const USAGE = 'close-month YYYY-MM --to FOLDER [--export-only]';

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { to: { type: 'string' }, 'export-only': { type: 'boolean', default: false } },
  });
  const [month] = positionals;
  const folder = values.to;
  if (month === undefined || folder === undefined || positionals.length > 1) throw new Error(USAGE);
  const { DATABASE_URL: url, LEDGER_CLOSE_AFTER_DAYS: afterDays } = loadConfig(closeMonthConfig, process.env);
  const isExportOnly = values['export-only'];
  const { rows, hashes } = await closeMonth({ url, month, folder, afterDays, isExportOnly });
  for (const [table, hash] of Object.entries(hashes))
    console.log(`${table}.csv: ${rows[table]} rows, SHA-256 ${hash.toString('hex')}`);
  console.log(isExportOnly ? `${month} is exported and takes no further charges` : `${month} is closed`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
