import { booksClientConfig } from '@svc/ledger';
import { paymentsConfig } from '@svc/payments';
import {
  databaseConnections,
  databaseStartWaitMs,
  databaseUrl,
  internalTokens,
  processConfig,
  redisUrl,
} from '@svc/runtime';
import type { z } from 'zod';

/** Settings of the process that sells credit. */
export const x402PaymentsConfig = {
  ...paymentsConfig,
  ...booksClientConfig,
  ...processConfig({ name: 'x402-payments', port: 3006 }),
  DATABASE_URL: databaseUrl.describe('The URL of the PostgreSQL database with the payments'),
  DATABASE_CONNECTIONS: databaseConnections,
  REDIS_URL: redisUrl,
  DATABASE_START_WAIT_MS: databaseStartWaitMs,
  ...internalTokens({ accepts: 'PAYMENTS', sends: ['LEDGER'] }),
};

export type X402PaymentsConfig = z.infer<z.ZodObject<typeof x402PaymentsConfig>>;
