import { durationMs, neighbourUrl, redisUrl, whole } from '@svc/runtime';
import { z } from 'zod';

/** Settings of a process that settles what its requests cost. */
const settlementConfig = {
  LEDGER_HOLD_LEASE_MS: durationMs
    .default(60_000)
    .describe('A hold whose process has died lapses after this time.'),
  LEDGER_HOLD_MAX_MS: durationMs
    .default(3_600_000)
    .describe('A hold is renewed for this long at most, so that one that was forgotten ends.'),
  LEDGER_SETTLE_WAIT_MS: durationMs
    .default(3_000)
    .describe(
      'A charge that the event log does not take waits this long to be posted directly, before it goes into the journal. The log has 5 s before that and the journal 2 s after it.',
    ),
  LEDGER_MAX_UNPOSTED: whole(1, 1_000_000)
    .default(10_000)
    .describe('Charges that wait to be posted directly.'),
  LEDGER_JOURNAL_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A folder of this process alone. Charges that neither the event log nor the books take are kept there until they are posted; without it, such requests are refused and never charged.',
    ),
  LEDGER_JOURNAL_BYTES: whole(1_048_576, 1_073_741_824)
    .default(16_777_216)
    .describe(
      'The size of the journal, taken from the disk at the first start. A charge takes about 1,000 bytes.',
    ),
};

/** Settings of the ledger, read together with those of its process. */
export const ledgerConfig = {
  ...settlementConfig,
  LEDGER_MAX_HOLDS: whole(1, 100_000_000)
    .default(1_000_000)
    .describe(
      'Holds at once, settled ones that wait for their posting included. Beyond it requests are refused.',
    ),
  LEDGER_MAX_ACCOUNTS: whole(1, 100_000_000)
    .default(100_000)
    .describe('Balances kept in memory. Idle accounts make room and are read again when they are used.'),
  LEDGER_AUDIT: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Proves the books by itself: what is new every quarter of an hour, the whole book every night.',
    ),
  LEDGER_START_WAIT_MS: durationMs
    .default(5_000)
    .describe(
      'A request waits this long for the charges of an earlier run to be posted, then it is refused.',
    ),
  LEDGER_READ_WAIT_MS: durationMs
    .default(2_000)
    .describe('A read of the books waits this long for recorded charges to be posted, then it is refused.'),
};

export type LedgerConfig = Readonly<z.infer<z.ZodObject<typeof ledgerConfig>>>;

export type SettlementConfig = Readonly<z.infer<z.ZodObject<typeof settlementConfig>>>;

/** Settings of a ledger of several processes, whose holds are on Redis. */
export const sharedLedgerConfig = {
  ...ledgerConfig,
  REDIS_URL: redisUrl,
  LEDGER_REDIS_WAIT_MS: durationMs
    .default(2_000)
    .describe('A step of the hold book that Redis does not answer in this time is refused.'),
  LEDGER_POSTING: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      '`off` during a restore: the ledger takes credits, stakes and refunds, but posts no charge and refuses every hold.',
    ),
};

export type SharedLedgerConfig = Readonly<z.infer<z.ZodObject<typeof sharedLedgerConfig>>>;

/** Settings of a process that calls the ledger of another. */
export const booksClientConfig = {
  LEDGER_URL: neighbourUrl.describe('Where the ledger listens; several replicas by commas'),
  LEDGER_WAIT_MS: durationMs
    .default(5_000)
    .describe('A call that no ledger answers in this time is refused.'),
};

/** Settings of a process that calls the ledger of another and settles by itself. */
export const ledgerClientConfig = { ...settlementConfig, ...booksClientConfig };

export type LedgerClientConfig = Readonly<z.infer<z.ZodObject<typeof ledgerClientConfig>>>;

export abstract class SettlementSettings {
  abstract readonly config: SettlementConfig;
}

export abstract class LedgerSettings {
  abstract readonly config: LedgerConfig;
}
