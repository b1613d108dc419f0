import 'reflect-metadata';
import { EventStrategy } from '@svc/events';
import { type Environment, runProcess } from '@svc/runtime';
import { checkMigrated, migrate, ownDatabase } from '@svc/storage';
import { billingLedgerConfig } from './billing-ledger.config.js';
import { BillingLedgerModule } from './billing-ledger.module.js';

/** Serves the ledger to the other processes. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: billingLedgerConfig,
    start: async (starting) => {
      const { config, logger, serve } = starting;
      const { DATABASE_URL: url, DATABASE_START_WAIT_MS: waitMs } = config;
      const prepare = config.LEDGER_MIGRATE ? migrate : checkMigrated;
      await ownDatabase({ url, mode: 'together', waitMs, prepare }, starting, {
        onTaken: () =>
          starting.fail('a process that keeps balances in its memory has had the database meanwhile'),
      });
      const { apiUrl } = await serve({
        module: BillingLedgerModule.with(config, logger),
        events: (app) => app.get(EventStrategy, { strict: false }),
      });
      return `billing-ledger listening on ${apiUrl}`;
    },
  });
