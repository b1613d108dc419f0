import { parseArgs } from 'node:util';

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
export function readOptions(args) {
  try {
    return parse(args);
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function parse(args) {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      accounts: { type: 'string' },
      concurrency: { type: 'string' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  if (values.only !== undefined && !PARTS.includes(values.only))
    throw new Error(`--only must be one of ${PARTS.join(', ')}`);
  const counts = Object.entries(values.quick ? QUICK : DEFAULTS).map(([name, usual]) => [
    name,
    values[name] === undefined ? usual : count(name, values[name]),
  ]);
  const parts = new Set(values.only === undefined ? PARTS : [values.only]);
  return { ...Object.fromEntries(counts), parts, json: values.json };
}

function count(name, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > MOST[name]) {
    throw new Error(`--${name} must be a whole number from 1 to ${MOST[name]}`);
  }
  return number;
}
