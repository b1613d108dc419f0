import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@svc/testing';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

it('reports all invalid settings at once', async () => {
  const env = { PORT: 'x', KAFKA_BROKERS: 'nowhere', LEDGER_URL: 'ledger', GATEWAY_TRANCHE_TOKENS: '0' };
  const faulty = RunningProcess.spawn({ main: MAIN, env });
  expect(await faulty.ended()).toBe(1);
  const named = [
    'PORT',
    'KAFKA_BROKERS',
    'LEDGER_URL',
    'GATEWAY_TRANCHE_TOKENS',
    'LIMITER_URL',
    'ROUTER_URL',
    'RETRIEVAL_URL',
    'DATABASE_URL',
    'REDIS_URL',
    'LEDGER_TOKEN',
    'ROUTER_TOKEN',
  ];
  for (const name of named) expect(faulty.output).toMatch(new RegExp(`^${name}(:| is not set)`, 'm'));
  expect(faulty.output).not.toMatch(/ at .*\.js/);
});
