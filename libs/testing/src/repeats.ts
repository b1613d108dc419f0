/** How often tests repeat what chance decides: in `npm test`, which has five minutes, and in `npm run test:long`. */
const REPEATS = {
  /** `kill -9` under load. */
  KILLS: { short: 2, long: 100 },
  /** Random histories of the ledger, on its database. */
  HISTORIES: { short: 200, long: 10_000 },
  /** Random histories of holds in memory. */
  HOLD_HISTORIES: { short: 200, long: 5_000 },
  /** Random histories of holds on Redis, on a server and on a cluster. */
  REDIS_HOLD_HISTORIES: { short: 30, long: 1_000 },
  /** Random histories of limits in memory. */
  LIMIT_HISTORIES: { short: 200, long: 5_000 },
  /** Random histories of calls that wait for a place at a backend. */
  QUEUE_HISTORIES: { short: 300, long: 20_000 },
  /** Random histories of payments, on a database and a simulated chain. */
  PAYMENT_HISTORIES: { short: 20, long: 1_000 },
  /** The same on a chain of this machine. */
  ANVIL_HISTORIES: { short: 5, long: 200 },
  /** The same on a Solana of this machine. */
  SOLANA_HISTORIES: { short: 5, long: 400 },
  /** Payments to a platform whose node is late at random. */
  LATE_NODE_PAYMENTS: { short: 12, long: 500 },
  /** Chat completions that no decent client sends. */
  FUZZ: { short: 500, long: 10_000 },
  /** Requests with sizes at the bounds of their schemas. */
  EXTREMES: { short: 500, long: 5_000 },
} as const;

/** Which form this run has: `vitest --mode long` makes it the long one. */
export const isLong = process.env['SVC_TEST_FORM'] === 'long';

/** How often to repeat it; a variable of its name says otherwise. */
export function repeats(what: keyof typeof REPEATS): number {
  const { short, long } = REPEATS[what];
  return Number(process.env[what] ?? (isLong ? long : short));
}
