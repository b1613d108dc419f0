import { fileURLToPath } from 'node:url';
import { startTestDatabase, startTestRedis, withRedis } from '@svc/storage/testing';
import { RunningProcess } from '@svc/testing';
import { Redis } from 'ioredis';
import { expect, it, vi } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const TOKEN = 'internal-token-of-the-tests-of-payments';

it('is live and ready without settings for payments, names the missing ones, and stops on a signal', async () => {
  const database = await startTestDatabase();
  const env = {
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: 'redis://127.0.0.1:1',
    LEDGER_URL: 'http://127.0.0.1:1',
    SVC_INTERNAL_TOKEN: TOKEN,
  };
  const { service, match } = await RunningProcess.start({ main: MAIN, env }, /listening on (http:\S+)/);
  expect((await fetch(`${match[1]}/healthz`)).status).toBe(200);
  expect((await fetch(`${match[1]}/readyz`)).status).toBe(200);
  expect((await fetch(`${match[1]}/api/v1/models`)).status).toBe(404);
  const path = `${match[1]}/internal/v1/payments/calls`;
  const post = (token: string) =>
    fetch(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify([{ method: 'rails', arguments: [] }]),
    });
  expect((await post('another')).status).toBe(401);
  expect(await service.stop()).toBe(0);
  await database.stop();
});

const { skipped, note } = withRedis();

it.skipIf(skipped)(`shares one schedule of audits with the other processes${note}`, async () => {
  const [database, redis] = [await startTestDatabase(), await startTestRedis()];
  const env = {
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    LEDGER_URL: 'http://127.0.0.1:1',
    SVC_INTERNAL_TOKEN: TOKEN,
    X402_EVM_RPC_URL: 'http://127.0.0.1:1',
    X402_EVM_PAY_TO: `0x${'1'.repeat(40)}`,
    X402_FACILITATOR_URL: 'http://127.0.0.1:1',
  };
  const starts = [1, 2].map(() => RunningProcess.start({ main: MAIN, env }, /listening on (http:\S+)/));
  const processes = await Promise.all(starts);
  const client = new Redis(redis.url);
  const scheduled = (): Promise<string[]> => client.zrange('{jobs}:payments-audit:repeat', '0', '-1');
  await vi.waitFor(async () => expect(await scheduled()).toHaveLength(2), { timeout: 30_000, interval: 50 });
  expect((await scheduled()).toSorted()).toEqual(['audit-all-payments', 'audit-new-payments']);
  for (const { service } of processes) expect(await service.stop()).toBe(0);
  client.disconnect();
  await redis.stop();
  await database.stop();
});

it('opens at most DATABASE_CONNECTIONS connections', async () => {
  const database = await startTestDatabase();
  const token = 'metrics-token-of-the-tests-of-payments';
  const env = {
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: 'redis://127.0.0.1:1',
    DATABASE_CONNECTIONS: '4',
    LEDGER_URL: 'http://127.0.0.1:1',
    SVC_INTERNAL_TOKEN: TOKEN,
    SVC_METRICS_TOKEN: token,
  };
  const { service, match } = await RunningProcess.start({ main: MAIN, env }, /listening on (http:\S+)/);
  const metrics = await fetch(`${match[1]}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  expect(await metrics.text()).toMatch(/^db_client_connection_max\{.*\} 4$/m);
  expect(await service.stop()).toBe(0);
  await database.stop();
});

it('reports all invalid settings at once', async () => {
  const env = { PORT: 'x', X402_EVM_PAY_TO: 'me', X402_EVM_RPC_URL: 'nowhere', X402_EVM_CONFIRMATIONS: '0' };
  const faulty = RunningProcess.spawn({ main: MAIN, env });
  expect(await faulty.ended()).toBe(1);
  for (const name of [...Object.keys(env), 'DATABASE_URL', 'REDIS_URL', 'LEDGER_URL', 'PAYMENTS_TOKEN'])
    expect(faulty.output).toMatch(new RegExp(`^${name}(:| is not set)`, 'm'));
});
