// Posts a million charges through the ledger itself and measures the audit of all of them, and of the last
// few, and the closing of their months.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MonthFolder, closeMonth } from '@svc/ledger';
import { CREDIT_NANO, accountIds, chargeOf } from './charges.mjs';
import { startLedger } from './ledger.mjs';
import { counts, readCommandLine } from '../command-line.mjs';
import { describeMachine } from '../machine.mjs';

const USAGE = `Usage: npm run bench:audit -- [options]

  --charges N   charges of the whole audit (1000000)
  --recent N    charges of the audit of what is new (10000)
  --json FILE   write the figures to FILE as well
`;

const USUAL = { charges: 1_000_000, recent: 10_000 };
const MOST = { charges: 10_000_000, recent: 10_000_000 };

/** The target for a million charges on two cores. */
const WHOLE_MOST_MS = 60_000;
const BATCH = 2_000;
const VACUUM_MS = 300_000;

/** Progress goes to stderr: stdout is the report. */
function say(text) {
  console.error(`… ${text}`);
}

/** Exits with a usage message if the settings are invalid. */
const readOptions = () =>
  readCommandLine(
    USAGE,
    { charges: { type: 'string' }, recent: { type: 'string' }, json: { type: 'string' } },
    (values) => ({ ...counts(values, { usual: USUAL, most: MOST }), json: values.json }),
  );

async function timed(work) {
  const startMs = performance.now();
  const result = await work();
  return { ms: Math.round(performance.now() - startMs), result };
}

/** Posts the charges with these numbers, in batches like the ledger's consumer. */
async function post(running, { from, to, month }) {
  for (let first = from; first < to; first += BATCH) {
    const length = Math.min(BATCH, to - first);
    await running.charges.post(Array.from({ length }, (_, index) => chargeOf(first + index, month)));
    const done = first + length - from;
    if (done % 100_000 === 0) say(`${done} of ${to - from} charges posted`);
  }
}

/** On a real platform these charges take a month, and autovacuum runs in between. */
async function vacuum({ database }) {
  const client = await database.pool.connect();
  try {
    await client.query(`SET statement_timeout = ${VACUUM_MS}`);
    await client.query({ text: 'VACUUM (ANALYZE)', query_timeout: VACUUM_MS });
  } finally {
    client.release(true);
  }
}

const TABLES_BYTES = `
  SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_partition_tree('ledger.charges')
  UNION ALL SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('ledger.charge_lines')
  UNION ALL SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('ledger.transfers')`;

async function bytesOf({ database }) {
  const rows = await database.query(TABLES_BYTES);
  return rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
}

/** Closes every month of the charges, as if they were old. */
async function closeMonths(running) {
  const before = await bytesOf(running);
  const months = await running.database.query(
    `SELECT DISTINCT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM ledger.charges`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-months-'));
  try {
    const { ms } = await timed(async () => {
      for (const { month } of months) {
        const place = new MonthFolder(join(folder, month));
        await closeMonth({ url: running.url, month, place, afterDays: 90, now: new Date('2100-01-01') });
      }
    });
    return { ms, before, after: await bytesOf(running) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bench(running, options) {
  const total = options.charges + options.recent;
  const month = { of: total, endMs: Date.now() };
  for (const accountId of accountIds)
    await running.books.credit({ accountId, usdNano: CREDIT_NANO, reference: 'start' });
  const posting = await timed(() => post(running, { from: 0, to: options.charges, month }));
  say('auditing the whole book');
  const whole = await timed(() => running.books.audit('whole'));
  await vacuum(running);
  await post(running, { from: options.charges, to: total, month });
  say('auditing what is new');
  const recent = await timed(() => running.books.audit('new'));
  say('closing the months');
  const closing = await closeMonths(running);
  const closed = await timed(() => running.books.audit('whole'));
  return {
    closing,
    closed: figures(closed),
    posting: { ms: posting.ms, charges: options.charges },
    whole: figures(whole),
    new: figures(recent),
  };
}

const figures = ({ ms, result }) => {
  const { ok, scope, accounts, transfers, charges, mismatches } = result;
  return { ms, ok, scope, accounts, transfers, charges, mismatches };
};

const mebibytes = (bytes) => `${Math.round(bytes / 1_048_576)} MiB`;

function report(machine, found) {
  const { posting, whole } = found;
  const line = (name, { ms, ok, charges, transfers }) =>
    `  ${name.padEnd(8)}${(ms / 1_000).toFixed(2).padStart(8)} s  ${charges} charges, ${transfers} transfers, ${ok ? 'ok' : 'NOT OK'}`;
  return [
    `Audit: ${machine.cores} cores, ${machine.cpu}, Node ${machine.node}, ${Math.round(machine.otherWork * 100)} % busy with other work`,
    `  posting ${(posting.ms / 1_000).toFixed(2).padStart(8)} s  ${posting.charges} charges, ${Math.round((posting.charges / posting.ms) * 1_000)} a second`,
    line('whole', whole),
    line('new', found.new),
    `  closing ${(found.closing.ms / 1_000).toFixed(2).padStart(8)} s  ${mebibytes(found.closing.before)} become ${mebibytes(found.closing.after)}`,
    line('closed', found.closed),
    ...(whole.ms > WHOLE_MOST_MS ? [`  the whole audit should take ${WHOLE_MOST_MS / 1_000} s at most`] : []),
    ...[whole, found.new, found.closed]
      .flatMap(({ mismatches }) => mismatches)
      .map((mismatch) => `  ${mismatch}`),
  ].join('\n');
}

async function main() {
  const options = readOptions();
  const machine = await describeMachine();
  const running = await startLedger();
  let isGood = false;
  try {
    const found = await bench(running, options);
    isGood = found.whole.ok && found.closed.ok && found.new.ok && found.new.scope === 'new';
    console.log(report(machine, found));
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ machine, ...found }, null, 2)}\n`);
  } finally {
    await running.stop();
  }
  process.exitCode = isGood ? 0 : 1;
}

await main();
