import { NestFactory } from '@nestjs/core';
import { Problem } from '@svc/contracts/problems';
import { neighbours } from '@svc/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from './database.js';
import { createPool } from './pool.js';
import { PrismaDatabase } from './prisma-database.js';
import { StorageModule } from '../storage.module.js';
import { type TestDatabase, startTestDatabase } from '../../test/testing.js';
import { withTransaction } from './transaction.js';

let database: TestDatabase;
let pool: ReturnType<typeof createPool>;
beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.url, { name: 'pool.int', max: 4, connectMs: 2_000 });
  await pool.query('CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)');
  await pool.query('INSERT INTO counters VALUES (1, 0), (2, 0)');
});
afterAll(async () => {
  await pool.end();
  await database.stop();
});

const counter = async (id: number): Promise<unknown> =>
  (await pool.query<{ n: number }>('SELECT n FROM counters WHERE id = $1', [id])).rows[0]?.n;

describe('createPool', () => {
  it('returns int8 as bigint and numeric as string, beyond the range of a number', async () => {
    const { rows } = await pool.query(
      `SELECT 9007199254740993::int8 AS big, ARRAY[1, NULL, 9007199254740993]::int8[] AS bigs,
              12345678901234567890.123456789::numeric AS exact, 7::int4 AS small`,
    );
    expect(rows).toEqual([
      {
        big: 9007199254740993n,
        bigs: [1n, null, 9007199254740993n],
        exact: '12345678901234567890.123456789',
        small: 7,
      },
    ]);
  });

  it('accepts bigints as parameters', async () => {
    const { rows } = await pool.query('SELECT $1::int8 AS one, $2::int8[] AS many', [
      2n ** 62n,
      [1n, 2n ** 62n],
    ]);
    expect(rows).toEqual([{ one: 2n ** 62n, many: [1n, 2n ** 62n] }]);
  });

  it('ends a statement at its deadline and continues with the next', async () => {
    const hasty = createPool(database.url, { name: 'hasty', max: 1, statementMs: 100 });
    await expect(hasty.query('SELECT pg_sleep(30)')).rejects.toThrow('statement timeout');
    expect((await hasty.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await hasty.end();
  });

  it('rejects a caller that got no connection within the deadline', async () => {
    const narrow = createPool(database.url, { name: 'narrow', max: 1, connectMs: 200 });
    const client = await narrow.connect();
    await expect(narrow.query('SELECT 1')).rejects.toThrow('timeout');
    client.release();
    await narrow.end();
  });

  it('replaces a connection ended by the server', async () => {
    const warnings: string[] = [];
    const logger = { info: () => undefined, warn: (message: string) => warnings.push(message) };
    const broken = createPool(database.url, { name: 'broken', max: 1, logger });
    await broken.query('SELECT 1');
    const lost = new Promise((resolve) => broken.once('error', resolve));
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'broken'`,
    );
    await lost;
    expect((await broken.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(warnings).toHaveLength(1);
    await broken.end();
  });
});

describe('withTransaction', () => {
  it('commits if the work returns and rolls back if it throws', async () => {
    const before = (await counter(1)) as number;
    expect(
      await withTransaction(pool, async (client) => {
        await client.query('UPDATE counters SET n = n + 1 WHERE id = 1');
        return 'done';
      }),
    ).toBe('done');
    await expect(
      withTransaction(pool, async (client) => {
        await client.query('UPDATE counters SET n = n + 100 WHERE id = 1');
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await counter(1)).toBe(before + 1);
  });

  it('completes both sides of a deadlock', async () => {
    const before = [(await counter(1)) as number, (await counter(2)) as number] as const;
    const bothHaveOne = Promise.withResolvers<void>();
    let waiting = 0;
    const inOrder = (first: number, second: number) =>
      withTransaction(pool, async (client) => {
        await client.query('UPDATE counters SET n = n + 1 WHERE id = $1', [first]);
        if (++waiting === 2) bothHaveOne.resolve();
        await bothHaveOne.promise;
        await client.query('UPDATE counters SET n = n + 1 WHERE id = $1', [second]);
      });
    await Promise.all([inOrder(1, 2), inOrder(2, 1)]);
    // The server aborts one side, or both if they time out at the same moment.
    expect(waiting).toBeGreaterThanOrEqual(3);
    expect([await counter(1), await counter(2)]).toEqual([before[0] + 2, before[1] + 2]);
  });

  it('gives up after five serialization failures', async () => {
    let runs = 0;
    const work = withTransaction(pool, async (client) => {
      runs += 1;
      await client.query(`DO $$ BEGIN RAISE EXCEPTION 'never' USING ERRCODE = '40001'; END $$`);
    });
    await expect(work).rejects.toThrow('never');
    expect(runs).toBe(5);
  });

  it('leaves no connection behind if the server ends one in the middle', async () => {
    const work = withTransaction(pool, async (client) => {
      client.on('error', () => undefined);
      await client.query('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    await expect(work).rejects.toThrow('terminating connection');
    await Promise.all(
      Array.from({ length: 8 }, () => withTransaction(pool, (client) => client.query('SELECT 1'))),
    );
    expect(pool.totalCount).toBeLessThanOrEqual(4);
    expect(pool.waitingCount).toBe(0);
  });
});

describe('Database', () => {
  it('counts lost connections as such, but not errors of the work itself', async () => {
    const lost = (): number =>
      neighbours.database
        .points()
        .filter(({ values }) => values[0] === 'postgresql' && values[2] === 'connection')
        .reduce((sum, { instrument }) => sum + instrument.count, 0);
    const sql = new Database(pool);
    const before = lost();
    const refused = sql.transaction(() => Promise.reject(new Problem('CHARGE_NOT_FOUND')));
    await expect(refused).rejects.toThrow(Problem);
    expect(lost()).toBe(before);
    const ended = createPool(database.url, { name: 'ended', max: 1 });
    await ended.end();
    await expect(new Database(ended).query('SELECT 1')).rejects.toThrow('end');
    expect(lost()).toBe(before + 1);
  });
});

describe('StorageModule', () => {
  it('shares one pool between Prisma and SQL, and closes it when the application stops', async () => {
    const app = await NestFactory.createApplicationContext(
      StorageModule.at({ url: database.url, maxConnections: 2 }),
      { logger: false },
    );
    const sql = app.get(Database);
    const prisma = app.get(PrismaDatabase);
    const id = crypto.randomUUID();
    await prisma.account.create({ data: { id, name: 'Ada', tier: 'standard', paid: true } });
    await Promise.all(Array.from({ length: 10 }, () => prisma.account.count()));
    expect(await sql.query('SELECT name, paid FROM gateway.accounts WHERE id = $1', [id])).toEqual([
      { name: 'Ada', paid: true },
    ]);
    expect(sql.pool.totalCount).toBeLessThanOrEqual(2);
    await expect(
      prisma.account.create({
        data: { id: crypto.randomUUID(), name: 'Eve', tier: 'unheard of', paid: true },
      }),
    ).rejects.toThrow('accounts_tier_check');
    await app.close();
    await expect(sql.query('SELECT 1')).rejects.toThrow('end');
  });
});
