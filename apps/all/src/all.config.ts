import { LOG_LEVELS, port, whole } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the single process. */
export const allConfig = {
  PORT: port.default(3000).describe('Where the public API listens; 0 takes a free port'),
  OPERATOR_PORT: port.default(3001).describe("Where the operator's API listens; 0 takes a free port"),
  HOST: z.string().default('127.0.0.1').describe('The address that both listen on'),
  SVC_DATA_DIR: z.string().default('.svc').describe('Where everything is kept'),
  SVC_CATALOG: z.string().default('catalog.yaml').describe('The catalogue of models'),
  SVC_CHARACTERS: z
    .string()
    .optional()
    .describe('The file of characters; without it, characters.yaml if there is one'),
  SVC_OPERATOR_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe("The operator's secret; without it, one is made and kept in the data directory"),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('A PostgreSQL server to use instead of the embedded one'),
  SVC_LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('What is logged'),
  SVC_DRAIN_MS: whole(0, 600_000)
    .default(25_000)
    .describe('How long streams may go on once the process is told to stop'),
};

export type AllConfig = z.infer<z.ZodObject<typeof allConfig>>;
