import { createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { askKeys } from '../account-keys.js';
import { BatchClient, YES, chatLine, linesText } from '../batch-client.js';
import { Platform } from '../platform.js';
import { Reconciliation } from '../reconciliation.js';
import { eventually } from '../response-bodies.js';
import { ScriptedBackend } from '../scripted-backend.js';
import { blockedOf, refuseCharges, refusesRows } from './refused-charges.js';

const LINES = 3;

/** Batches of others are looked for every 15 s. */
const TIMEOUT_MS = 120_000;

let database: TestDatabase;
let pool: Pool;
let backend: ScriptedBackend;
let platform: Platform;

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.url, { name: 'test' });
  backend = await ScriptedBackend.start();
  platform = await Platform.start({
    env: { DATABASE_URL: database.url, ROUTER_COOL_DOWN_MS: '1', LEDGER_SETTLE_WAIT_MS: '100' },
    models: [{ id: 'scripted', backends: [{ url: backend.url, model: 'scripted' }] }],
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
beforeEach(() => backend.refuse(0));

const BODY = {
  model: 'scripted',
  messages: [YES],
};

interface ChargedBatch {
  readonly id: string;
  readonly accountId: string;
}

/** A batch of which every line is charged and none has a result, because its process was killed. */
async function charged(): Promise<ChargedBatch> {
  const { id: accountId, apiKey } = await platform.account('1.00');
  const client = new BatchClient(platform, apiKey);
  await pool.query(
    `CREATE TRIGGER no_result BEFORE INSERT ON gateway.batch_results EXECUTE FUNCTION gateway.no_row()`,
  );
  const lines = Array.from({ length: LINES }, (_, at) => chatLine(String(at), BODY));
  const { id } = await client.begin(linesText(...lines));
  await eventually('all lines are charged', async () => (await owedBy(accountId)) === LINES);
  await platform.kill();
  await pool.query('DROP TRIGGER no_result ON gateway.batch_results');
  await free({ id, accountId }, '1 hour');
  await platform.restart();
  return { id, accountId };
}

async function owedBy(accountId: string): Promise<number> {
  const { rows } = await pool.query<{ owed: number }>(
    `SELECT count(*)::int AS owed FROM gateway.repeated_requests
     WHERE account_id = $1 AND charge IS NOT NULL AND NOT is_made`,
    [accountId],
  );
  return rows[0]?.owed ?? 0;
}

/** Lets a batch be taken over after this time, and its lines at once. */
async function free({ id, accountId }: ChargedBatch, after = '0'): Promise<void> {
  await pool.query('UPDATE gateway.batches SET lease_until = now() + $2::interval WHERE id = $1', [
    id,
    after,
  ]);
  await pool.query('UPDATE gateway.repeated_requests SET lease_until = now() WHERE account_id = $1', [
    accountId,
  ]);
}

interface EndedBatch {
  readonly state: string;
  readonly completed: number;
  readonly failed: number;
}

/** A batch as it has ended, once its account has the charges of its completed lines only. */
async function ended({ id, accountId }: ChargedBatch): Promise<EndedBatch | undefined> {
  let batch: EndedBatch | undefined;
  await eventually('it has ended', async () => {
    const { rows } = await pool.query<EndedBatch>(
      'SELECT state, completed, failed FROM gateway.batches WHERE id = $1 AND ended_at IS NOT NULL',
      [id],
    );
    [batch] = rows;
    return batch !== undefined;
  });
  const books = new Reconciliation(accountId, () => platform);
  await eventually('the books agree', async () => {
    await books.faults();
    return books.charges.size === batch?.completed;
  });
  const { usd } = await platform.balances(accountId);
  const paid = [...books.charges.values()].reduce((sum, cost) => sum + cost.usd, 0);
  expect(Math.round(Number(usd) * 1e9)).toBe(1e9 - paid);
  expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  return batch;
}

const NONE = { state: 'completed', completed: 0, failed: LINES };

async function keyOf(accountId: string): Promise<string> {
  const { body } = await platform.operator('GET', `/api_keys?accountId=${accountId}`);
  const [key] = body['data'] as { id: string }[];
  return key?.id ?? '';
}

async function changeKey(accountId: string, change: object): Promise<void> {
  const id = await keyOf(accountId);
  const admin = { apiKeyType: 'ADMIN', description: '' };
  const { body } = await platform.operator('POST', `/accounts/${accountId}/api_keys`, admin);
  const apiKey = String(body['apiKey']);
  const { status } = await askKeys(platform, { method: 'PATCH', apiKey, body: { id, ...change } });
  if (status !== 200) throw new Error(`the key was not changed: ${status}`);
}

const ENDINGS: readonly [string, (batch: ChargedBatch) => unknown, EndedBatch][] = [
  [
    'its key is revoked',
    async ({ accountId }) => platform.operator('DELETE', `/api_keys/${await keyOf(accountId)}`),
    NONE,
  ],
  ['its key is disabled', ({ accountId }) => changeKey(accountId, { disabled: true }), NONE],
  [
    'its key has spent what it may',
    ({ accountId }) => changeKey(accountId, { consumptionLimit: { usd: 0 }, limitPeriod: 'LIFETIME' }),
    NONE,
  ],
  [
    'its account is suspended',
    ({ accountId }) => platform.operator('PUT', `/accounts/${accountId}/suspension`, { reason: 'unpaid' }),
    NONE,
  ],
  ['its backend refuses them', () => backend.refuse(1_000, { status: 400 }), NONE],
  ['its backend fails', () => backend.refuse(1_000, { status: 500 }), { ...NONE, state: 'expired' }],
  ['its backend is busy', () => backend.refuse(1_000), { state: 'cancelled', completed: 0, failed: 0 }],
  [
    'its backend is busy for a while',
    () => backend.refuse(4 * LINES),
    { state: 'completed', completed: LINES, failed: 0 },
  ],
  [
    'a restore has lost their claims',
    ({ accountId }) => pool.query('DELETE FROM gateway.repeated_requests WHERE account_id = $1', [accountId]),
    { state: 'completed', completed: LINES, failed: 0 },
  ],
  ['nothing else happens', () => undefined, { state: 'completed', completed: LINES, failed: 0 }],
  ['it is cancelled', () => undefined, { state: 'cancelled', completed: 0, failed: 0 }],
  ['it has expired', () => undefined, { state: 'expired', completed: 0, failed: LINES }],
];

it.each(ENDINGS)(
  'lines that a killed process has charged, when %s',
  { timeout: TIMEOUT_MS },
  async (_what, happen, end) => {
    const batch = await charged();
    await happen(batch);
    if (end.state === 'cancelled')
      await pool.query(
        `UPDATE gateway.batches SET state = 'cancelling', cancelling_at = now() WHERE id = $1`,
        [batch.id],
      );
    if (end.state === 'expired')
      await pool.query('UPDATE gateway.batches SET expires_at = now() WHERE id = $1', [batch.id]);
    await free(batch);
    expect(await ended(batch)).toEqual(end);
  },
);

it(
  'lines that have failed are given back once, even if the process that did so is killed before they end',
  { timeout: TIMEOUT_MS },
  async () => {
    const batch = await charged();
    await pool.query(
      `INSERT INTO gateway.batch_results (batch_id, line, custom_id, is_failed, content, cost_nano, usage)
     SELECT $1, n, n::text, true, '{}', 0, NULL FROM generate_series(1, $2) AS n`,
      [batch.id, LINES],
    );
    await pool.query(
      `CREATE TRIGGER no_end BEFORE UPDATE ON gateway.batches FOR EACH ROW WHEN (new.ended_at IS NOT NULL)
     EXECUTE FUNCTION gateway.no_row()`,
    );
    await free(batch);
    await eventually('a process gives them back, and leaves the batch', async () => {
      const { rows } = await pool.query(
        `SELECT FROM gateway.batches WHERE id = $1 AND state = 'finalizing' AND lease_until IS NULL`,
        [batch.id],
      );
      return rows.length > 0;
    });
    await platform.kill();
    await pool.query('DROP TRIGGER no_end ON gateway.batches');
    await platform.restart();
    expect(await ended(batch)).toEqual(NONE);
  },
);

it(
  'lines whose charge nothing accepts are made and charged once something does',
  { timeout: TIMEOUT_MS },
  async () => {
    const batch = await refused();
    expect(await ended(batch)).toEqual({ state: 'completed', completed: LINES, failed: 0 });
  },
);

/** What the process could do next with the claim of a line whose charge was refused. */
const NEXT_STEPS: readonly [string, string][] = [
  [
    'ends its claim',
    'UPDATE ON gateway.repeated_requests FOR EACH ROW WHEN (new.charge IS NOT NULL AND new.version > old.version)',
  ],
  [
    'changes its claim',
    'UPDATE ON gateway.repeated_requests FOR EACH ROW WHEN (old.charge IS NOT NULL AND new.charge IS NULL)',
  ],
  ['claims it again', 'INSERT ON gateway.repeated_requests FOR EACH ROW'],
];

it.each(NEXT_STEPS)(
  'lines whose charge was refused are charged once if their process is killed before it %s',
  { timeout: TIMEOUT_MS },
  async (_what, event) => {
    const batch = await refused(() =>
      pool.query(`CREATE TRIGGER stopped BEFORE ${event} EXECUTE FUNCTION gateway.no_row()`),
    );
    await eventually(
      'the books have blocked their charges',
      async () => (await blockedOf(pool, batch.accountId)) >= LINES,
    );
    await platform.kill();
    await pool.query('DROP TRIGGER stopped ON gateway.repeated_requests');
    await platform.restart();
    await free(batch);
    expect(await ended(batch)).toEqual({ state: 'completed', completed: LINES, failed: 0 });
  },
);

/** A batch whose lines were sent while nothing accepted their charges, which is over. */
async function refused(whenCharged: () => Promise<unknown> = () => Promise.resolve()): Promise<ChargedBatch> {
  const { id: accountId, apiKey } = await platform.account('1.00');
  const client = new BatchClient(platform, apiKey);
  const accepted = await refuseCharges(pool, platform.dataDir);
  const lines = Array.from({ length: LINES }, (_, at) => chatLine(String(at), BODY));
  const { id } = await client.begin(linesText(...lines));
  await eventually('all charges are stored', async () => (await owedBy(accountId)) === LINES);
  await whenCharged();
  await eventually('the ledger gives all of them back', () => accepted({ accountId, requests: LINES }));
  return { id, accountId };
}
