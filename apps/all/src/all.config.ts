import { SECRET_LENGTH, port, processConfig } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the single process. */
export const allConfig = {
  ...processConfig({ port: 3000 }),
  OPERATOR_PORT: port.default(3001).describe("Where the operator's API listens; 0 takes a free port"),
  SVC_DATA_DIR: z.string().default('.svc').describe('Where everything is kept'),
  SVC_CATALOG: z.string().default('catalog.yaml').describe('The catalogue of models'),
  SVC_CHARACTERS: z
    .string()
    .optional()
    .describe('The file of characters; without it, characters.yaml if there is one'),
  SVC_OPERATOR_TOKEN: z
    .string()
    .min(SECRET_LENGTH)
    .optional()
    .describe("The operator's secret; without it, one is made and kept in the data directory"),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('A PostgreSQL server to use instead of the embedded one'),
};
