import type { PoolClient, QueryConfig, QueryResultRow } from 'pg';

/** A full audit of a million charges takes seconds, but the books may become much larger. */
const STATEMENT_MS = 300_000;

/** Settings of an audit's transaction, which reads many rows at once. */
export const AUDIT_SETTINGS = `
  SET LOCAL statement_timeout = ${STATEMENT_MS}; SET LOCAL work_mem = '128MB';
  SET LOCAL max_parallel_workers_per_gather = 2;
  SET LOCAL enable_partitionwise_join = on; SET LOCAL enable_partitionwise_aggregate = on`;

/**
 * Whole tables are best joined by hashing. PostgreSQL underestimates a table that has just grown, and would
 * look up each row.
 */
export const WHOLE_SETTINGS =
  'SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_sort = off';

/** Runs a statement that may take long. */
export async function longQuery<Row extends QueryResultRow>(
  client: PoolClient,
  text: string,
): Promise<Row[]> {
  // Without this, the client would time out before the server does.
  const query: QueryConfig & { query_timeout: number } = { text, query_timeout: STATEMENT_MS };
  const { rows } = await client.query<Row>(query);
  return rows;
}
