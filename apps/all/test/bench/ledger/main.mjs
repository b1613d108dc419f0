// Measures the ledger and the same work done row by row through Prisma. See ledger.md.
import { writeFileSync } from 'node:fs';
import { readOptions } from './options.mjs';
import { LedgerPlace } from './place.mjs';
import { headText, holdText, moneyText, postText, ratioText } from './report.mjs';
import { loadLedger, loadPosting, loadRows, paceHolds, stepsOfLedger, stepsOfRows } from './rounds.mjs';
import { proveRows } from './rows.mjs';
import { hotAccount, zipfAccounts } from './workload.mjs';
import { describeMachine } from '../machine.mjs';
import { median } from '../rounds.mjs';

/** Holds per second on one account, and charges per second of other accounts at the same time. */
const HOLDS_PER_SECOND = 1_000;
const BESIDE_PER_SECOND = 5_000;
/** Duration of the warm-up, in which the code of each kind of load is compiled. */
const WARM_UP_SECONDS = 1;
/** Time for everything else than the load itself. */
const MARGIN_MS = 240_000;

/** Progress goes to stderr: stdout is the report. */
function say(text) {
  console.error(`… ${text}`);
}

/** Runs everything and prints the report. Returns false if money is wrong. */
async function bench(place, options) {
  const machine = await describeMachine();
  console.log(`${headText({ machine, options })}\n`);
  const posts = await runPosts(place, options);
  console.log(`${postText(posts)}\n\n${ratioText(posts)}\n`);
  const holds = await runHolds(place, options);
  if (holds.length > 0) console.log(`${holdText(holds)}\n`);
  say('auditing');
  const audit = await place.ledger.books.audit('whole');
  const rows = await proveRows(place.rows);
  console.log(moneyText({ audit, rows }));
  if (options.json) writeFileSync(options.json, toJson({ machine, options, posts, holds, audit, rows }));
  return audit.ok && rows.ok;
}

/** Alternating rounds of all competitors that post charges, each with its medians. */
async function runPosts(place, { parts, ...options }) {
  const { ledger, rows } = place;
  const spreads = { 'one hot account': hotAccount(place.hotId), 'Zipf (s = 1)': zipfAccounts(place.ids) };
  const kinds = [
    { part: 'ledger', name: 'ledger, hold to posted', load: (load) => loadLedger(ledger, load) },
    { part: 'posting', name: 'ledger, posting alone', load: (load) => loadPosting(ledger, load) },
    { part: 'rows', name: 'Prisma, row by row', load: (load) => loadRows(rows, load) },
  ];
  const measurements = kinds
    .filter(({ part }) => parts.has(part))
    .flatMap((kind) =>
      Object.entries(spreads).map(([spread, pickAccount]) => ({ ...kind, spread, pickAccount, rounds: [] })),
    );
  const shared = { ...options, postgresPid: place.server.pid };
  for (const { load, pickAccount } of measurements)
    await load({ ...shared, pickAccount, seconds: WARM_UP_SECONDS });
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const { name, spread, load, pickAccount, rounds } of measurements) {
      say(`round ${round} of ${options.rounds}: ${name}, ${spread}`);
      await place.settleDown();
      rounds.push(await load({ ...shared, pickAccount }));
    }
  }
  return measurements.map(({ part, name, spread, rounds }) => {
    return { part, name, spread, rounds, median: medians(rounds) };
  });
}

/**
 * Holds at a fixed rate on one account: only with their own charges, with those of others, and row by row.
 */
async function runHolds(place, { parts, seconds }) {
  if (!parts.has('holds')) return [];
  const { ledger, rows } = place;
  const pace = { perSecond: HOLDS_PER_SECOND, seconds };
  const hot = hotAccount(place.hotId);
  const others = zipfAccounts(place.ids);
  say(`${HOLDS_PER_SECOND} holds/s on one account`);
  const own = await paceHolds(stepsOfLedger(ledger, hot), pace);
  say(`the same beside ${BESIDE_PER_SECOND} charges/s of others`);
  const [beside] = await Promise.all([
    paceHolds(stepsOfLedger(ledger, hot), pace),
    paceHolds(stepsOfLedger(ledger, others), { perSecond: BESIDE_PER_SECOND, seconds }),
  ]);
  say('the same row by row');
  const byRows = await paceHolds(stepsOfRows(rows, hot), pace);
  return [
    { name: 'ledger', isTarget: true, ...own },
    { name: `ledger, beside ${BESIDE_PER_SECOND} charges/s of others`, ...beside },
    { name: 'Prisma, row by row', ...byRows },
  ];
}

/** The median of each figure, also of nested figures. */
function medians(rounds) {
  const [first] = rounds;
  if (typeof first === 'number') return median(rounds);
  if (typeof first !== 'object') return first;
  return Object.fromEntries(
    Object.keys(first).map((name) => [name, medians(rounds.map((round) => round[name]))]),
  );
}

function toJson(found) {
  const plain = (_name, value) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Set ? [...value] : value;
  };
  return `${JSON.stringify(found, plain, 2)}\n`;
}

async function main() {
  const options = readOptions();
  const place = await LedgerPlace.open({ ...options, say });
  let isEnding = false;
  const end = async (code, reason) => {
    if (isEnding) return;
    isEnding = true;
    if (reason) console.error(reason);
    await place.close().catch((error) => console.error(error.stack));
    process.exit(code);
  };
  process.on('SIGINT', () => void end(130, 'stopping'));
  process.on('SIGTERM', () => void end(143, 'stopping'));
  const deadlineMs = MARGIN_MS + options.rounds * options.seconds * 12_000;
  setTimeout(() => void end(1, `the run took more than ${deadlineMs / 1000} s`), deadlineMs).unref();
  try {
    const isGood = await bench(place, options);
    await end(isGood ? 0 : 1);
  } catch (error) {
    await end(1, error.stack);
  }
}

await main();
