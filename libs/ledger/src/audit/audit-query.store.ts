import type { PoolClient, QueryConfig, QueryResultRow } from 'pg';

/** A whole audit of a million charges takes seconds; the books may become much larger. */
const STATEMENT_MS = 300_000;

/** Settings of the transaction of an audit: it reads much at once. */
export const AUDIT_SETTINGS = `
  SET LOCAL statement_timeout = ${STATEMENT_MS}; SET LOCAL work_mem = '128MB';
  SET LOCAL max_parallel_workers_per_gather = 2;
  SET LOCAL enable_partitionwise_join = on; SET LOCAL enable_partitionwise_aggregate = on`;

/**
 * Whole tables are best put together by hashing. Where they have just grown PostgreSQL does not know that they are
 * large, and would look each row up.
 */
export const WHOLE_SETTINGS =
  'SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_sort = off';

/** Runs a statement that may take long. */
export async function longQuery<Row extends QueryResultRow>(
  client: PoolClient,
  text: string,
): Promise<Row[]> {
  // The client would give up earlier than the server.
  const query: QueryConfig & { query_timeout: number } = { text, query_timeout: STATEMENT_MS };
  const { rows } = await client.query<Row>(query);
  return rows;
}
