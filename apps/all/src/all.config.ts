import { catalogConfig, charactersConfig } from '@svc/catalog';
import { SECRET_LENGTH, databaseStartWaitMs, databaseUrl, port, processConfig } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the single process. */
export const allConfig = {
  ...processConfig({ name: 'all', port: 3000 }),
  OPERATOR_PORT: port.default(3001).describe("The port of the operator's API; 0 selects a free port"),
  SVC_DATA_DIR: z.string().default('.svc').describe('The folder for all data'),
  ...catalogConfig,
  ...charactersConfig,
  SVC_OPERATOR_TOKEN: z
    .string()
    .min(SECRET_LENGTH)
    .optional()
    .describe("The operator's token; if unset, one is generated and stored in the data directory"),
  DATABASE_URL: databaseUrl.optional().describe('A PostgreSQL server to use instead of the embedded one'),
  DATABASE_START_WAIT_MS: databaseStartWaitMs,
};
