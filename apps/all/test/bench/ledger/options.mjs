import { counts, readCommandLine } from '../command-line.mjs';

const USAGE = `Usage: npm run bench:ledger -- [options]

  --seconds N      seconds of load per measurement (5)
  --rounds N       interleaved rounds, whose medians are printed (3)
  --accounts N     accounts that the charges are spread over (10000)
  --concurrency N  requests under way at once, of the ledger (1000)
  --only NAME      one part only: ledger, posting, holds or rows
  --quick          1 round of 2 s over 1,000 accounts: about a minute
  --json FILE      write the figures to FILE as well
`;

const DEFAULTS = { seconds: 5, rounds: 3, accounts: 10_000, concurrency: 1_000 };
const QUICK = { ...DEFAULTS, seconds: 2, rounds: 1, accounts: 1_000 };
const MOST = { seconds: 600, rounds: 9, accounts: 100_000, concurrency: 20_000 };
const PARTS = ['ledger', 'posting', 'holds', 'rows'];

/** The settings of one run. Exits with a usage message if they are invalid. */
export const readOptions = () =>
  readCommandLine(
    USAGE,
    {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      accounts: { type: 'string' },
      concurrency: { type: 'string' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
    settingsOf,
  );

function settingsOf(values) {
  const { only, quick, json } = values;
  if (only !== undefined && !PARTS.includes(only))
    throw new Error(`--only must be one of ${PARTS.join(', ')}`);
  const parts = new Set(only === undefined ? PARTS : [only]);
  return { ...counts(values, { usual: quick ? QUICK : DEFAULTS, most: MOST }), parts, json };
}
