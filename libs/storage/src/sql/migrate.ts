import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartFault, databaseUrl } from '@svc/runtime';
import { Client } from 'pg';
import { type StorageLogger, silent } from '../logger.js';
import { repeating } from './transaction.js';

/** The advisory lock of `prisma migrate deploy`, so that the two never run at once. */
const PRISMA_LOCK = 72_707_369;
const LOCK_MS = 60_000;
const STATEMENT_MS = 10 * 60_000;

/** The folder of this repository's migrations, relative to both `src` and `dist`. */
export const MIGRATIONS_DIR = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

/** Settings of the migration command. */
export const migrationsConfig = {
  DATABASE_URL: databaseUrl.describe(
    'The URL of the PostgreSQL database; its user must be allowed to create tables',
  ),
};

/** The database and the migration folder do not match, or a migration failed. */
export class MigrationError extends StartFault {
  override readonly name = 'MigrationError';
}

interface Migration {
  readonly name: string;
  readonly sql: string;
}

interface AppliedRow {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
  readonly logs: string | null;
}

/** The migrations and the release of a version, and where it logs that the tables are newer. */
export interface MigrationSource {
  readonly dir?: string;
  /** Default: the release of this repository. */
  readonly release?: string;
  readonly logger?: StorageLogger;
}

/**
 * Applies the migrations that the database lacks, in the order of their names, each in one transaction, and
 * records them as `prisma migrate deploy` does. Returns the names of those it applied. Tables of a newer
 * version are left as they are and accepted as by `checkMigrated`. Throws `MigrationError` if an applied
 * migration was changed or has failed, and if one fails now.
 */
export async function migrate(url: string, source: MigrationSource = {}): Promise<string[]> {
  const migrations = await readMigrations(source.dir);
  return withClient(url, async (client) => {
    await client.query(`SELECT pg_advisory_lock(${PRISMA_LOCK})`);
    await client.query(TABLE);
    const { pending, isNewer } = await compare(client, migrations, source);
    if (isNewer) refuseOlder(pending);
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  });
}

/**
 * Throws `MigrationError` if the database lacks a migration of this version, or has a different one of the
 * same name. Additions of a newer version are accepted and logged, so tables can be migrated before the
 * processes, and the processes can be rolled back. They are refused only if a newer version has removed what
 * this one uses, which its migration states as `-- contracts: RELEASE`.
 */
export async function checkMigrated(url: string, source: MigrationSource = {}): Promise<void> {
  const migrations = await readMigrations(source.dir);
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ table: string | null }>(
      `SELECT to_regclass('_prisma_migrations')::text AS table`,
    );
    if (rows[0]?.table == null) refuseOlder(migrations);
    else refuseOlder((await compare(client, migrations, source)).pending);
  });
}

interface Comparison {
  /** The migrations not applied yet. */
  readonly pending: readonly Migration[];
  /** Whether a newer version has migrated the database. */
  readonly isNewer: boolean;
}

/** The one rule of which tables a version accepts. */
async function compare(
  client: Client,
  migrations: readonly Migration[],
  { release, logger = silent }: MigrationSource,
): Promise<Comparison> {
  const applied = await readApplied(client);
  const pending = pendingOf(migrations, applied);
  const newer = applied.filter(
    ({ migration_name: name }) => !migrations.some((known) => known.name === name),
  );
  const [first] = newer;
  if (!first) return { pending, isNewer: false };
  const own = release ?? (await readRelease());
  for (const { migration_name: name, logs } of newer) {
    const [, needed] = CONTRACTS.exec(logs ?? '') ?? [];
    if (needed === undefined || isAtLeast(own, needed)) continue;
    throw new MigrationError(
      `Migration ${name} has removed tables or columns that this version uses: release ${needed} or newer is needed, and this is ${own}`,
    );
  }
  logger.warn(
    `The database has migrations of a newer version, ${first.migration_name} the first of ${newer.length}; this version leaves its tables as they are`,
  );
  return { pending, isNewer: true };
}

function refuseOlder([lacking]: readonly Migration[]): void {
  if (lacking) throw new MigrationError(`The database lacks migration ${lacking.name}`);
}

/** The line of a migration that removes something: the release since which nothing uses it. */
const CONTRACTS = /^-- contracts: (\d+\.\d+\.\d+)\r?$/m;

function isAtLeast(release: string, needed: string): boolean {
  return release.localeCompare(needed, 'en', { numeric: true }) >= 0;
}

const PACKAGE = new URL('../../../../package.json', import.meta.url);

async function readRelease(): Promise<string> {
  const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { version: string };
  return version;
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({
    connectionString: url,
    application_name: 'migrate',
    connectionTimeoutMillis: 10_000,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

async function readMigrations(dir: string = MIGRATIONS_DIR): Promise<Migration[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names
      .toSorted()
      .map(async (name) => ({ name, sql: await readFile(join(dir, name, 'migration.sql'), 'utf8') })),
  );
}

const TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

async function readApplied(client: Client): Promise<AppliedRow[]> {
  const { rows } = await client.query<AppliedRow>(
    'SELECT migration_name, checksum, finished_at, logs FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at',
  );
  return rows;
}

/** The migrations not applied yet. */
function pendingOf(migrations: readonly Migration[], applied: readonly AppliedRow[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { migration_name: name, checksum, finished_at: finishedAt } of applied) {
    const migration = known.get(name);
    if (!finishedAt) throw new MigrationError(`Migration ${name} has failed half-way and needs an operator`);
    // From a newer version.
    if (!migration) continue;
    if (!checksumsOf(migration.sql).includes(checksum)) {
      throw new MigrationError(`Migration ${name} was changed after it had been applied`);
    }
    known.delete(name);
  }
  return [...known.values()];
}

/** Processes of the last release go on meanwhile, so it may meet them in a deadlock. */
async function apply(client: Client, migration: Migration): Promise<void> {
  try {
    await repeating(() => applyOnce(client, migration));
  } catch (error) {
    throw new MigrationError(`Migration ${migration.name} failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function applyOnce(client: Client, { name, sql }: Migration): Promise<void> {
  const startedAt = new Date();
  try {
    await client.query('BEGIN');
    // Without parameters the whole file is one message, so a `;` in a function's body does not split it.
    await client.query(sql);
    // Older versions don't have the file, so what it removes is recorded where they find it.
    const [contracts] = CONTRACTS.exec(sql) ?? [];
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp(), 1)`,
      [randomUUID(), sha256(sql), name, contracts ?? null, startedAt],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** A checkout may have changed the line endings. */
function checksumsOf(sql: string): string[] {
  const unix = sql.replaceAll('\r\n', '\n');
  return [sha256(sql), sha256(unix), sha256(unix.replaceAll('\n', '\r\n'))];
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
