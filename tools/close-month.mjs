// Closes a month of the books of DATABASE_URL: `npm run close-month -- 2026-03 --to FOLDER` proves it, writes
// its charges to FOLDER/2026-03, and replaces them by one for each account, day, key and model. With
// --to-bucket it writes them to the bucket of MEDIA_S3_URL instead. With --export-only the charges stay.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MonthFolder, closeMonth, closeMonthConfig } from '@svc/ledger';
import { mediaStoreConfig, openMediaStore } from '@svc/media-jobs';
import { createLogger, loadConfig } from '@svc/runtime';

const USAGE = 'close-month YYYY-MM (--to FOLDER | --to-bucket) [--export-only]';

/** The bucket of the settings of media, with names of its own for the files of the month. */
function openBucket(month, config) {
  if (config.MEDIA_S3_URL === undefined) throw new Error('MEDIA_S3_URL is not set, which --to-bucket needs');
  const prefix = `${config.LEDGER_MONTHS_PREFIX}${month}/`;
  return openMediaStore({ ...config, MEDIA_S3_PREFIX: prefix }, createLogger('warn'));
}

let bucket;
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      to: { type: 'string' },
      'to-bucket': { type: 'boolean', default: false },
      'export-only': { type: 'boolean', default: false },
    },
  });
  const [month] = positionals;
  const { to: folder, 'to-bucket': isToBucket, 'export-only': isExportOnly } = values;
  if (month === undefined || positionals.length > 1 || isToBucket === (folder !== undefined))
    throw new Error(USAGE);
  const config = loadConfig({ ...closeMonthConfig, ...mediaStoreConfig }, process.env);
  bucket = isToBucket ? await openBucket(month, config) : undefined;
  const { rows, hashes } = await closeMonth({
    url: config.DATABASE_URL,
    month,
    place: bucket ?? new MonthFolder(join(folder, month)),
    afterDays: config.LEDGER_CLOSE_AFTER_DAYS,
    isExportOnly,
  });
  for (const [table, hash] of Object.entries(hashes))
    console.log(`${table}.csv: ${rows[table]} rows, SHA-256 ${hash.toString('hex')}`);
  console.log(isExportOnly ? `${month} is exported and takes no further charges` : `${month} is closed`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await bucket?.close();
}
