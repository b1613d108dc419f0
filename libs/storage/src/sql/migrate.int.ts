import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MigrationSource, MIGRATIONS_DIR, MigrationError, checkMigrated, migrate } from './migrate.js';
import { type TestDatabase, startTestDatabase } from '../../test/testing.js';

let server: TestDatabase;
let url: string;
let dir: string;
let count = 0;

async function query<Row extends QueryResultRow>(to: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: to });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(dir, name), { recursive: true });
  await writeFile(join(dir, name, 'migration.sql'), sql);
}

beforeAll(async () => {
  server = await startTestDatabase();
});
afterAll(() => server.stop());

beforeEach(async () => {
  count += 1;
  const copy = new URL(server.url);
  copy.pathname += `_${count}`;
  url = copy.href;
  await query(server.url, `CREATE DATABASE ${copy.pathname.slice(1)}`);
  dir = await mkdtemp(join(tmpdir(), 'svc-migrations-'));
  await write('0001_first', 'CREATE TABLE first (n int);\n');
  return async () => {
    await query(server.url, `DROP DATABASE ${copy.pathname.slice(1)} WITH (FORCE)`);
    await rm(dir, { recursive: true });
  };
});

it('applies every migration of the repository, in order and once', async () => {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => !name.endsWith('.toml')).toSorted();
  expect(await migrate(url)).toEqual(names);
  expect(await migrate(url)).toEqual([]);
});

it('repeats a migration that ended in a deadlock with a process at work', async () => {
  await query(url, 'CREATE TABLE one (n int); CREATE TABLE two (n int)');
  await write('0002_both', 'ALTER TABLE one ADD m int; ALTER TABLE two ADD m int;');
  // The migration is the one that detects the deadlock, and is ended.
  const asleep = (seconds: number): string => `${url}?options=-c%20deadlock_timeout%3D${seconds}s`;
  const working = new Client({ connectionString: asleep(600) });
  await working.connect();
  await working.query('BEGIN; INSERT INTO two VALUES (1)');
  const migrating = migrate(asleep(5), { dir });
  const waiting = `SELECT FROM pg_locks WHERE relation = 'two'::regclass AND NOT granted`;
  while ((await query(url, waiting)).length === 0);
  await working.query('INSERT INTO one VALUES (1); COMMIT');
  await working.end();
  expect(await migrating).toEqual(['0001_first', '0002_both']);
  expect(await query(url, 'SELECT one.n, one.m, two.m FROM one, two')).toEqual([{ n: 1, m: null }]);
});

it('records a migration as Prisma does', async () => {
  await migrate(url, { dir });
  const rows = await query<{ id: string; started_at: Date; finished_at: Date }>(
    url,
    'SELECT * FROM public._prisma_migrations',
  );
  const sql = await readFile(join(dir, '0001_first', 'migration.sql'));
  expect(rows).toMatchObject([
    {
      checksum: createHash('sha256').update(sql).digest('hex'),
      migration_name: '0001_first',
      logs: null,
      rolled_back_at: null,
      applied_steps_count: 1,
    },
  ]);
  expect(rows[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(rows[0]?.started_at).toBeInstanceOf(Date);
  expect(rows[0]?.finished_at).toBeInstanceOf(Date);
});

it('applies migrations added later', async () => {
  await migrate(url, { dir });
  await write('0002_second', 'CREATE TABLE second (n int);');
  expect(await migrate(url, { dir })).toEqual(['0002_second']);
  expect(await query(url, `SELECT to_regclass('second')::text AS name`)).toEqual([{ name: 'second' }]);
});

it('accepts functions with semicolons in their body', async () => {
  await write(
    '0002_function',
    `CREATE FUNCTION two() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN 2; END; $$;`,
  );
  await migrate(url, { dir });
  expect(await query(url, 'SELECT two()')).toEqual([{ two: 2 }]);
});

it('applies each migration once when several processes start together', async () => {
  await write('0002_slow', 'SELECT pg_sleep(0.2); CREATE TABLE slow (n int);');
  const applied = await Promise.all([migrate(url, { dir }), migrate(url, { dir }), migrate(url, { dir })]);
  expect(applied.flat().toSorted()).toEqual(['0001_first', '0002_slow']);
});

it('leaves nothing of a failing migration, and names it', async () => {
  await write('0002_broken', 'CREATE TABLE half (n int); SELECT 1 / 0;');
  await expect(migrate(url, { dir })).rejects.toThrow('Migration 0002_broken failed: division by zero');
  expect(await query(url, `SELECT to_regclass('half') AS half, to_regclass('first')::text AS first`)).toEqual(
    [{ half: null, first: 'first' }],
  );
  await write('0002_broken', 'CREATE TABLE half (n int);');
  expect(await migrate(url, { dir })).toEqual(['0002_broken']);
});

it('refuses if an applied migration was changed, except for its line endings', async () => {
  await migrate(url, { dir });
  await write('0001_first', 'CREATE TABLE first (n int);\r\n');
  expect(await migrate(url, { dir })).toEqual([]);
  await write('0001_first', 'CREATE TABLE first (n bigint);\n');
  await expect(migrate(url, { dir })).rejects.toThrow('Migration 0001_first was changed');
});

describe.each([
  ['migrate', migrate],
  ['checkMigrated', checkMigrated],
] as const)('%s on the tables of a newer version', (_name, prepare) => {
  /** Migrates with a second migration, then forgets it, as a version that was rolled back. */
  async function rolledBackFrom(sql: string): Promise<void> {
    await write('0002_newer', sql);
    await migrate(url, { dir });
    await rm(join(dir, '0002_newer'), { recursive: true });
  }
  const warnings: string[] = [];
  const source = (release?: string): MigrationSource => ({
    dir,
    ...(release !== undefined && { release }),
    logger: { info: () => undefined, warn: (message) => warnings.push(message) },
  });

  it('accepts what a newer version has added, and logs it', async () => {
    await rolledBackFrom('CREATE TABLE newer (n int);');
    warnings.length = 0;
    await prepare(url, source());
    expect(warnings).toEqual([expect.stringContaining('0002_newer')]);
    expect(await query(url, `SELECT to_regclass('newer')::text AS name`)).toEqual([{ name: 'newer' }]);
  });

  it.each([
    ['0.9.0', 'refused'],
    ['0.10.0', 'accepted'],
    ['0.10.1', 'accepted'],
    ['1.0.0', 'accepted'],
  ] as const)('which dropped what is unused since release 0.10.0: release %s is %s', async (own, outcome) => {
    await rolledBackFrom('-- contracts: 0.10.0\nDROP TABLE first;');
    const prepared = await prepare(url, source(own)).then(() => 'accepted', String);
    const refusal =
      'Migration 0002_newer has removed tables or columns that this version uses: release 0.10.0 or newer is needed';
    expect(prepared).toContain(outcome === 'accepted' ? outcome : refusal);
  });

  it('adds nothing to them, and names the migration that they lack', async () => {
    await rolledBackFrom('CREATE TABLE newer (n int);');
    await write('0003_own', 'CREATE TABLE own (n int);');
    await expect(prepare(url, source())).rejects.toThrow('The database lacks migration 0003_own');
    expect(await query(url, `SELECT to_regclass('own')::text AS name`)).toEqual([{ name: null }]);
  });
});

it('refuses a database on which Prisma left a migration halfway', async () => {
  await migrate(url, { dir });
  await query(url, 'UPDATE _prisma_migrations SET finished_at = NULL');
  await expect(migrate(url, { dir })).rejects.toBeInstanceOf(MigrationError);
});

it('the check accepts migrated tables, and rejects older and changed ones', async () => {
  await expect(checkMigrated(url, { dir })).rejects.toThrow('lacks migration 0001_first');
  await migrate(url, { dir });
  await checkMigrated(url, { dir });
  await write('0002_newer', 'CREATE TABLE newer (n int);');
  await expect(checkMigrated(url, { dir })).rejects.toThrow('lacks migration 0002_newer');
  await write('0001_first', 'CREATE TABLE first (n bigint);');
  await expect(checkMigrated(url, { dir })).rejects.toThrow('Migration 0001_first was changed');
});
