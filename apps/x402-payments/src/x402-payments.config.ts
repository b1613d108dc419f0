import { booksClientConfig } from '@svc/ledger';
import { paymentsConfig } from '@svc/payments';
import { databaseSettings, internalTokens, processConfig, redisUrl } from '@svc/runtime';
import type { z } from 'zod';

/** Settings of the process that sells credit. */
export const x402PaymentsConfig = {
  ...paymentsConfig,
  ...booksClientConfig,
  ...processConfig({ name: 'x402-payments', port: 3006 }),
  ...databaseSettings('the payments'),
  REDIS_URL: redisUrl,
  ...internalTokens({ accepts: 'PAYMENTS', sends: ['LEDGER'] }),
};

export type X402PaymentsConfig = z.infer<z.ZodObject<typeof x402PaymentsConfig>>;
