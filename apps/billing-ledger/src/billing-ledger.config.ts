import { kafkaConfig } from '@svc/events';
import { sharedLedgerConfig } from '@svc/ledger';
import { databaseSettings, internalTokens, processConfig } from '@svc/runtime';
import { z } from 'zod';

/**
 * Settings of the process that owns every balance. By default it logs only warnings: the gateway logs each
 * request.
 */
export const billingLedgerConfig = {
  ...sharedLedgerConfig,
  ...kafkaConfig,
  ...processConfig({ name: 'billing-ledger', port: 3005, logLevel: 'warn' }),
  ...databaseSettings('the books'),
  LEDGER_MIGRATE: z
    .stringbool()
    .default(true)
    .describe(
      'Whether the ledger migrates its tables when it starts. If `false`, it does not start with tables older than its version',
    ),
  ...internalTokens({ accepts: 'LEDGER' }),
};

export type BillingLedgerConfig = z.infer<z.ZodObject<typeof billingLedgerConfig>>;
