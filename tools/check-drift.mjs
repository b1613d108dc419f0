// Compares the database that the migrations create with Prisma's schema: tables, columns, types, nullability,
// defaults,
// keys, indexes and references. Check constraints and functions exist only in the migrations.
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { temporaryInfra } from '@svc/infra';
import { createPool, migrate } from '@svc/storage';

const root = join(import.meta.dirname, '..');
const faults = [];

/** PostgreSQL types by Prisma type, or by native type if one is given. */
const columnTypes = {
  BigInt: 'int8',
  Boolean: 'bool',
  Bytes: 'bytea',
  DateTime: 'timestamp',
  Decimal: 'numeric',
  Float: 'float8',
  Int: 'int4',
  Json: 'jsonb',
  String: 'text',
  Date: 'date',
  SmallInt: 'int2',
  Timestamptz: 'timestamptz',
  Uuid: 'uuid',
  VarChar: 'varchar',
};

/** The datamodel, from Prisma's own parser. */
function readDatamodel() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-drift-'));
  try {
    for (const path of globSync('prisma/schema/*.prisma', { cwd: root }))
      copyFileSync(join(root, path), join(folder, basename(path)));
    const main = join(folder, 'main.prisma');
    const generator = join(import.meta.dirname, 'datamodel-generator.mjs');
    const output = join(folder, 'datamodel.json');
    const provider = JSON.stringify(`"${process.execPath}" "${generator}" "${output}"`);
    const schema = readFileSync(main, 'utf8');
    writeFileSync(
      main,
      schema.replace(/generator client \{[^}]*\}/, `generator client {\n provider = ${provider}\n}`),
    );
    const prismaPackage = createRequire(import.meta.url).resolve('prisma/package.json');
    const cli = join(dirname(prismaPackage), JSON.parse(readFileSync(prismaPackage, 'utf8')).bin.prisma);
    const result = spawnSync(process.execPath, [cli, 'generate', '--no-hints', '--schema', folder], {
      cwd: root,
      encoding: 'utf8',
      timeout: 120_000,
      env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
    });
    if (result.status !== 0) throw new Error(`prisma generate failed: ${result.stdout}${result.stderr}`);
    return JSON.parse(readFileSync(output, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const columnsSql = `
  SELECT n.nspname || '.' || c.relname AS table, a.attname AS column, t.typname AS type, a.atttypmod AS modifier,
         NOT a.attnotnull AS nullable, a.atthasdef AS defaulted
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'public', 'pg_toast')`;

const indexesSql = `
  SELECT i.indrelid::regclass::text AS table, i.indisprimary AS primary, i.indisunique AS unique,
         array_agg(a.attname::text ORDER BY k.position) AS columns
  FROM pg_index i
  JOIN LATERAL unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY k (number, position) ON true
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
  WHERE i.indpred IS NULL AND i.indexprs IS NULL
  GROUP BY i.indexrelid, i.indrelid, i.indisprimary, i.indisunique`;

const referencesSql = `
  SELECT f.conrelid::regclass::text AS table, f.confrelid::regclass::text AS target,
         (SELECT array_agg(a.attname::text ORDER BY k.position) FROM unnest(f.conkey) WITH ORDINALITY k (number, position)
          JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number) AS columns
  FROM pg_constraint f WHERE f.contype = 'f'`;

async function readDatabase() {
  const infra = await temporaryInfra();
  try {
    const url = await infra.postgres.start();
    await migrate(url);
    const pool = createPool(url, { name: 'drift' });
    try {
      const rowsOf = async (sql) => (await pool.query(sql)).rows;
      return {
        columns: await rowsOf(columnsSql),
        indexes: await rowsOf(indexesSql),
        references: await rowsOf(referencesSql),
      };
    } finally {
      await pool.end();
    }
  } finally {
    await infra.wipe();
  }
}

const tableOf = (model) => `${model.schema}.${model.dbName ?? model.name}`;
const columnOf = (field) => field.dbName ?? field.name;
const columnsOf = (model, names) =>
  names.map((name) => columnOf(model.fields.find((field) => field.name === name)));

function typeOf(field) {
  const [native] = field.nativeType ?? [];
  return `${field.isList ? '_' : ''}${columnTypes[native ?? field.type] ?? `unknown type ${native ?? field.type}`}`;
}

/** Defaults that the database itself must set. */
function isDefaultedByDatabase({ hasDefaultValue, default: value }) {
  return hasDefaultValue && !['uuid', 'cuid', 'nanoid', 'ulid'].includes(value?.name);
}

function checkColumns(model, columns) {
  const table = tableOf(model);
  const found = new Map(columns.filter((row) => row.table === table).map((row) => [row.column, row]));
  if (found.size === 0) return faults.push(`${table}: is in prisma/schema and in no migration`);
  for (const field of model.fields.filter(({ kind }) => kind !== 'object')) {
    const at = `${table}.${columnOf(field)}`;
    const row = found.get(columnOf(field));
    found.delete(columnOf(field));
    if (!row) {
      faults.push(`${at}: is in prisma/schema and in no migration`);
      continue;
    }
    const [, [precision] = []] = field.nativeType ?? [];
    if (row.type !== typeOf(field))
      faults.push(`${at}: is ${row.type} in the migrations, ${typeOf(field)} in prisma/schema`);
    else if (row.type.startsWith('timestamp') && row.modifier !== Number(precision ?? 3))
      faults.push(
        `${at}: has precision ${row.modifier} in the migrations, ${precision ?? 3} in prisma/schema`,
      );
    if (!field.isList && row.nullable === field.isRequired)
      faults.push(`${at}: is ${row.nullable ? 'nullable' : 'required'} in the migrations only`);
    if (row.defaulted !== isDefaultedByDatabase(field))
      faults.push(`${at}: has a default in ${row.defaulted ? 'the migrations' : 'prisma/schema'} only`);
  }
  for (const column of found.keys())
    faults.push(`${table}.${column}: is in the migrations and not in prisma/schema`);
}

/** An index as one line, for comparison. */
const indexLine = (type, columns) => `${type} index on ${columns.join(', ')}`;

function checkIndexes({ model, datamodel, indexes }) {
  const table = tableOf(model);
  const wanted = datamodel.indexes
    .filter((index) => index.model === model.name)
    .map(({ type, fields }) => {
      const names = fields.map(({ name }) => name);
      return indexLine(type, columnsOf(model, names));
    });
  const built = indexes
    .filter((row) => row.table === table)
    .map(({ primary, unique, columns }) => indexLine(primary ? 'id' : unique ? 'unique' : 'normal', columns));
  for (const line of wanted)
    if (!built.includes(line)) faults.push(`${table}: no migration builds the ${line}`);
  for (const line of built)
    if (!wanted.includes(line)) faults.push(`${table}: prisma/schema lacks the ${line}`);
}

function checkReferences({ model, datamodel, references }) {
  const table = tableOf(model);
  for (const field of model.fields.filter(({ relationFromFields }) => relationFromFields?.length > 0)) {
    const target = tableOf(datamodel.models.find(({ name }) => name === field.type));
    const columns = columnsOf(model, field.relationFromFields).join();
    const found = references.some(
      (row) => row.table === table && row.target === target && row.columns.join() === columns,
    );
    if (!found) faults.push(`${table}: no migration builds the reference from ${columns} to ${target}`);
  }
}

const datamodel = readDatamodel();
const { columns, indexes, references } = await readDatabase();
for (const model of datamodel.models) {
  checkColumns(model, columns);
  checkIndexes({ model, datamodel, indexes });
  checkReferences({ model, datamodel, references });
}
const modelled = new Set(datamodel.models.map(tableOf));
for (const table of new Set(columns.map((row) => row.table))) {
  if (!modelled.has(table)) faults.push(`${table}: is in the migrations and not in prisma/schema`);
}
for (const fault of faults) console.log(fault);
process.exit(faults.length === 0 ? 0 : 1);
