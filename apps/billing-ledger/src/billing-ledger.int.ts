import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@svc/testing';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

it('reports all invalid settings at once', async () => {
  const env = { PORT: 'x', REDIS_URL: 'http://127.0.0.1', KAFKA_BROKERS: 'nowhere', LEDGER_MAX_HOLDS: '0' };
  const faulty = RunningProcess.spawn({ main: MAIN, env });
  expect(await faulty.ended()).toBe(1);
  const named = ['PORT', 'REDIS_URL', 'KAFKA_BROKERS', 'LEDGER_MAX_HOLDS', 'DATABASE_URL', 'LEDGER_TOKEN'];
  for (const name of named) expect(faulty.output).toMatch(new RegExp(`^${name}(:| is not set)`, 'm'));
  expect(faulty.output).not.toMatch(/ at .*\.js/);
});
