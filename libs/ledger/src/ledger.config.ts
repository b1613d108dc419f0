import { databaseUrl, durationMs, neighbourUrl, redisUrl, whole } from '@svc/runtime';
import { z } from 'zod';

/** Settings of a process that settles what its requests cost. */
const settlementConfig = {
  LEDGER_HOLD_LEASE_MS: durationMs
    .default(60_000)
    .describe('How long a hold lasts after its process has died'),
  LEDGER_HOLD_MAX_MS: durationMs
    .default(3_600_000)
    .describe('How long a hold is renewed at most, so that a leaked hold expires'),
  LEDGER_SETTLE_WAIT_MS: durationMs
    .default(3_000)
    .describe(
      'How long a charge that the event log did not accept waits to be posted directly, before it is written to the journal. The event log has 5 s before that, the journal 2 s after it',
    ),
  LEDGER_MAX_UNPOSTED: whole(1, 1_000_000)
    .default(10_000)
    .describe('The maximum number of charges that wait to be posted directly'),
  LEDGER_JOURNAL_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A folder that only this process uses. It keeps charges that neither the event log nor the books accepted until they are posted; if unset, such requests fail and are never charged',
    ),
  LEDGER_JOURNAL_BYTES: whole(1_048_576, 1_073_741_824)
    .default(16_777_216)
    .describe(
      'The size of the journal, allocated on disk at the first start. A charge takes about 1,000 bytes',
    ),
};

/** Settings of the ledger, read together with those of its process. */
export const ledgerConfig = {
  ...settlementConfig,
  LEDGER_MAX_HOLDS: whole(1, 100_000_000)
    .default(1_000_000)
    .describe(
      'The maximum number of holds, including settled ones that wait to be posted. Further requests are rejected',
    ),
  LEDGER_MAX_ACCOUNTS: whole(1, 100_000_000)
    .default(100_000)
    .describe(
      'The maximum number of balances kept in memory. Those of idle accounts are evicted, and reloaded on use',
    ),
  LEDGER_AUDIT: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether the books are audited automatically: new entries every 15 minutes, the whole books every night',
    ),
  LEDGER_START_WAIT_MS: durationMs
    .default(5_000)
    .describe(
      'How long a request waits for the charges of an earlier run to be posted before it is rejected',
    ),
  LEDGER_READ_WAIT_MS: durationMs
    .default(2_000)
    .describe('How long a read of the books waits for recorded charges to be posted before it is rejected'),
};

export type LedgerConfig = Readonly<z.infer<z.ZodObject<typeof ledgerConfig>>>;

export type SettlementConfig = Readonly<z.infer<z.ZodObject<typeof settlementConfig>>>;

/** Settings of a ledger of several processes, whose holds are on Redis. */
export const sharedLedgerConfig = {
  ...ledgerConfig,
  REDIS_URL: redisUrl,
  LEDGER_REDIS_WAIT_MS: durationMs
    .default(2_000)
    .describe('How long an operation on holds waits for Redis before it fails'),
  LEDGER_POSTING: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      '`off` during a restore: the ledger accepts credits, stakes and refunds, but posts no charges and rejects every hold',
    ),
};

export type SharedLedgerConfig = Readonly<z.infer<z.ZodObject<typeof sharedLedgerConfig>>>;

/** Settings of a process that calls the ledger of another. */
export const booksClientConfig = {
  LEDGER_URL: neighbourUrl.describe(
    'The URL of the ledger; those of several replicas are separated by commas',
  ),
  LEDGER_WAIT_MS: durationMs.default(5_000).describe('How long a call waits for a ledger before it fails'),
};

/** Settings of a process that calls the ledger of another and settles by itself. */
export const ledgerClientConfig = { ...settlementConfig, ...booksClientConfig };

export type LedgerClientConfig = Readonly<z.infer<z.ZodObject<typeof ledgerClientConfig>>>;

/** Settings of the command that closes a month of the books. */
export const closeMonthConfig = {
  DATABASE_URL: databaseUrl.describe('The URL of the PostgreSQL database of the books'),
  LEDGER_CLOSE_AFTER_DAYS: whole(30, 3_650)
    .default(90)
    .describe(
      'The number of days after its end when a month can be closed. Its requests can be refunded until then',
    ),
  LEDGER_MONTHS_PREFIX: z
    .string()
    .regex(/^[\w./-]{0,200}$/)
    .default('books/')
    .describe('What the names of the files of closed months begin with in a bucket'),
};

export abstract class SettlementSettings {
  abstract readonly config: SettlementConfig;
}

export abstract class LedgerSettings {
  abstract readonly config: LedgerConfig;
}
