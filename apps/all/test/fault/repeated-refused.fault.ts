import { randomUUID } from 'node:crypto';
import { createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { type Simulator, startSimulator } from '@svc/simulator';
import { blockedOf, refuseCharges, refusesRows } from './refused-charges.js';

let database: TestDatabase;
let pool: Pool;
let backend: Simulator;
let platform: Platform;

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.url, { name: 'test' });
  backend = await startSimulator({ port: 0 });
  const clip = {
    id: 'clip',
    name: 'Clip',
    type: 'video',
    tier: 'XS',
    constraints: { durations: ['5s'], resolutions: ['480p'], aspectRatios: ['16:9'] },
    pricing: { perSecond: { '480p': 0.02 } },
    backends: [{ url: `${backend.url}/v1`, model: 'clip;delay-ms=0' }],
  };
  platform = await Platform.start({
    env: { DATABASE_URL: database.url, LEDGER_SETTLE_WAIT_MS: '100' },
    models: [clip],
    hasOwnProcess: true,
  });
  await refusesRows(pool);
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
  await pool.end();
  await database.stop();
});

const VIDEO = { model: 'clip', prompt: 'A cat', duration: '5s', aspect_ratio: '16:9', resolution: '480p' };

const KINDS: readonly [string, string, object][] = [
  ['a completion', 'chat/completions', { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] }],
  ['a stored job', 'video/queue', VIDEO],
];

it.each(KINDS)(
  '%s with a key whose charge was refused, and whose process is killed before it forgets that, is charged when it is repeated',
  { timeout: 120_000 },
  async (_what, path, body) => {
    const { id: accountId, apiKey } = await platform.account('1.00');
    const key = randomUUID();
    const send = async () => {
      const response = await fetch(`${platform.apiUrl}/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
      });
      const { status, headers } = response;
      return { status, isReplay: headers.get('idempotent-replayed') === 'true', text: await response.text() };
    };
    const accepted = await refuseCharges(pool, platform.dataDir);
    await pool.query(
      'CREATE TRIGGER kept BEFORE DELETE ON gateway.repeated_requests EXECUTE FUNCTION gateway.no_row()',
    );
    expect(await send()).toMatchObject({ status: 503 });
    await eventually('the ledger gives it back', () => accepted({ accountId, requests: 1 }));
    await eventually('the books have blocked it', async () => (await blockedOf(pool, accountId)) > 0);
    await platform.kill();
    await pool.query('DROP TRIGGER kept ON gateway.repeated_requests');
    await platform.restart();
    await pool.query('UPDATE gateway.repeated_requests SET lease_until = now()');

    const made = await send();
    expect(made).toMatchObject({ status: 200, isReplay: false });
    expect(await send()).toEqual({ ...made, isReplay: true });
    const spent = async (): Promise<number> => 1 - Number((await platform.balances(accountId)).usd);
    await eventually('it is charged', async () => (await spent()) > 0);
    const { body: listed } = await platform.operator('GET', `/accounts/${accountId}/transfers?limit=100`);
    const charges = (listed['data'] as { kind: string }[]).filter(({ kind }) => kind === 'charge');
    expect(charges).toHaveLength(1);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  },
);
