// The bytes in each store of a cluster.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createPool } from '@svc/storage';

/** Partitions count as their table. WAL is what was written, whether or not it is still there. */
const TABLES = `
  SELECT format('%s.%s', root.relnamespace::regnamespace, root.relname) AS name,
    sum(pg_table_size(leaf.oid))::FLOAT AS table, sum(pg_indexes_size(leaf.oid))::FLOAT AS indexes
  FROM pg_class AS leaf
  JOIN pg_class AS root ON root.oid = coalesce(nullif(pg_partition_root(leaf.oid), 0), leaf.oid)
  WHERE leaf.relkind = 'r' AND leaf.relnamespace::regnamespace::TEXT NOT IN ('pg_catalog', 'information_schema')
  GROUP BY 1`;
const WAL = `SELECT (pg_current_wal_insert_lsn() - '0/0')::FLOAT AS bytes`;

/** The names of all stores, such as `Kafka usage.recorded.v1`, with the bytes in each. */
export async function bytesOfStores({ infra, folder }) {
  return new Map([
    ...(await postgresBytes(await infra.postgres.address())),
    ...kafkaBytes(join(infra.folder, 'kafka', 'data')),
    ['Redis, files', folderBytes(join(infra.folder, 'redis'))],
    ['journals', folderBytes(join(folder, 'journals'))],
    ['media files', folderBytes(join(folder, 'media'))],
    ...readdirSync(folder)
      .filter((file) => file.endsWith('.log'))
      .map((file) => [`log of ${file.replace(/\.log$/, '')}`, statSync(join(folder, file)).size]),
  ]);
}

async function postgresBytes(url) {
  const pool = createPool(url, { name: 'bench' });
  try {
    const { rows } = await pool.query(TABLES);
    const wal = await pool.query(WAL);
    return [
      ...rows.flatMap(({ name, table, indexes }) => [
        [`PostgreSQL ${name}`, table],
        [`PostgreSQL ${name}, indexes`, indexes],
      ]),
      ['PostgreSQL WAL, written', wal.rows[0].bytes],
    ];
  } finally {
    await pool.end();
  }
}

/** The segments of each topic. Kafka's indexes are preallocated and say nothing. */
function kafkaBytes(data) {
  const bytes = new Map();
  for (const partition of readdirSync(data, { withFileTypes: true })) {
    const topic = /^(?<topic>.+)-\d+$/.exec(partition.name)?.groups?.topic;
    if (!partition.isDirectory() || topic === undefined) continue;
    const segments = folderBytes(join(data, partition.name), (file) => file.endsWith('.log'));
    const name = `Kafka ${topic}`;
    bytes.set(name, (bytes.get(name) ?? 0) + segments);
  }
  return [...bytes];
}

function folderBytes(folder, counts = () => true) {
  if (!existsSync(folder)) return 0;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const sizes = files
    .filter((file) => counts(file.name))
    .map((file) => statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
