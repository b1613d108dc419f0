import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadConfig, port } from './config.js';

const shape = {
  PORT: port,
  LEDGER_URL: z.string().describe('Where the ledger listens'),
  PLAIN: z.string(),
};

describe('loadConfig', () => {
  it('reports every missing or invalid setting on its own line, with its purpose', () => {
    expect(() => loadConfig(shape, { PORT: '70000', LEDGER_URL: '' })).toThrow(
      [
        'PORT: must be at most 65535',
        'LEDGER_URL is not set. Where the ledger listens',
        'PLAIN is not set',
      ].join('\n'),
    );
  });
});
