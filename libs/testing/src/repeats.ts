/**
 * How often tests repeat randomized cases: in `npm test`, which has five minutes, and in `npm run test:long`.
 */
const REPEATS = {
  /** `kill -9` under load. */
  KILLS: { short: 2, long: 100 },
  /** `kill -9` while requests with a key are made. */
  KILLS_OF_REPEATED: { short: 1, long: 50 },
  /** Users of an account, each with a request. */
  END_USERS: { short: 200, long: 100_000 },
  KILLS_OF_WEBHOOKS: { short: 3, long: 30 },
  /** `kill -9` while a batch runs. */
  KILLS_OF_BATCH: { short: 2, long: 20 },
  /** First tokens of clients with and without a batch. */
  ROUNDS_BESIDE_BATCH: { short: 2, long: 10 },
  /** Random histories of the ledger, on its database. */
  HISTORIES: { short: 200, long: 10_000 },
  /** Random histories of the ledger over several months, for accounting. */
  ACCOUNTING_HISTORIES: { short: 3, long: 100 },
  /** Random histories of holds in memory. */
  HOLD_HISTORIES: { short: 200, long: 5_000 },
  /** Random histories of holds on Redis, on a server and on a cluster. */
  REDIS_HOLD_HISTORIES: { short: 30, long: 1_000 },
  /** Random histories of limits in memory. */
  LIMIT_HISTORIES: { short: 200, long: 5_000 },
  /** Random histories of calls that wait for a backend's slot. */
  QUEUE_HISTORIES: { short: 300, long: 20_000 },
  /** Responses of servers that were damaged at random. */
  DAMAGED_RESPONSES: { short: 500, long: 50_000 },
  /** Random histories of payments, on a database and a simulated chain. */
  PAYMENT_HISTORIES: { short: 20, long: 1_000 },
  /** The same on a chain of this machine. */
  ANVIL_HISTORIES: { short: 3, long: 200 },
  /** The same on a Solana of this machine. */
  SOLANA_HISTORIES: { short: 3, long: 400 },
  /** Random histories of video and music jobs, on a database. */
  MEDIA_HISTORIES: { short: 10, long: 500 },
  /** Payments to a platform whose node is randomly delayed. */
  LATE_NODE_PAYMENTS: { short: 6, long: 500 },
  /** Malformed and unusual chat completions. */
  FUZZ: { short: 200, long: 10_000 },
  /** Lists of calls of blockchain nodes that answer at random. */
  RPC_LISTS: { short: 100, long: 10_000 },
  /** Requests in the form of messages and of chat completions. */
  MESSAGES: { short: 25, long: 1_000 },
  /** Audio files of every format with random changes, decoded by FFmpeg. */
  CHANGED_AUDIO: { short: 100, long: 20_000 },
  /** Encrypted chats for one of two enclaves. */
  ENCLAVE_CHOICES: { short: 60, long: 1_000 },
  /** Encrypted chats in which one bit was changed. */
  BIT_FLIPS: { short: 60, long: 1_000 },
  /** Requests in the form of responses and of chat completions. */
  RESPONSES: { short: 25, long: 1_000 },
  /** Requests that their clients leave at random moments. */
  ABORTS: { short: 1_000, long: 10_000 },
  /** Responses of hosted providers with random usage. */
  HOSTED_USAGES: { short: 20, long: 10_000 },
  /** Usages as each kind of backend reports them, without a platform. */
  PRICED_USAGES: { short: 200, long: 10_000 },
  /** Rankings and moderations with random counts of tokens. */
  INPUT_USAGES: { short: 20, long: 1_000 },
  /** Random conversations to hosted providers. */
  HOSTED_CONVERSATIONS: { short: 100, long: 1_000 },
  /** Requests with sizes at the limits of their schemas. */
  EXTREMES: { short: 150, long: 5_000 },
} as const;

const form = process.env['SVC_TEST_FORM'] ?? 'short';

/** Whether this is the long run: `vitest --mode long`. */
export const isLong = form === 'long';

/** Whether cases run that CI leaves to the nightly run: `vitest --mode cluster`, and the long run. */
export const isNightly = form !== 'short';

/** The number of repetitions; a variable of the same name overrides it. */
export function repeats(what: keyof typeof REPEATS): number {
  const { short, long } = REPEATS[what];
  return Number(process.env[what] ?? (isLong ? long : short));
}
