import { type CustomTypesConfig, Pool, types } from 'pg';
import { type StorageLogger, silent } from '../logger.js';
import { ErrorSafeClient } from './error-safe-client.js';

const INT8 = 20;
const INT8_ARRAY = 1016;

export interface PoolOptions {
  /** The application name in `pg_stat_activity`. */
  readonly name: string;
  /** Maximum number of connections; default: 10. */
  readonly max?: number;
  /** How long a caller waits for a connection; default: 5 s. */
  readonly connectMs?: number;
  /** The server's timeout per statement; default: 10 s. */
  readonly statementMs?: number;
  readonly logger?: StorageLogger;
}

/** Several times the pauses between polls, each of which would otherwise open a connection. */
const IDLE_MS = 120_000;
/** The client times out this much later than the server, so that the server's error is seen. */
const GRACE_MS = 2_000;

type Parse = (value: string) => unknown;
type FindParser = (oid: number, format?: 'text' | 'binary') => Parse;

const findParser = types.getTypeParser as unknown as FindParser;
const parseArray = findParser(INT8_ARRAY) as (text: string) => (string | null)[];

const findExactParser: FindParser = (oid, format) => {
  if (format !== 'binary' && oid === INT8) return BigInt;
  if (format !== 'binary' && oid === INT8_ARRAY) {
    return (text) => parseArray(text).map((value) => (value === null ? null : BigInt(value)));
  }
  return findParser(oid, format);
};

/** `int8` is a bigint, since amounts may exceed 2^53. `numeric` stays a string. */
export const exactTypes: CustomTypesConfig = {
  getTypeParser: findExactParser as CustomTypesConfig['getTypeParser'],
};

/** A bounded pool of connections, in which every wait has a deadline. */
export function createPool(url: string, options: PoolOptions): Pool {
  const { name, max = 10, connectMs = 5_000, statementMs = 10_000, logger = silent } = options;
  const pool = new Pool({
    connectionString: url,
    application_name: name,
    max,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    query_timeout: statementMs + GRACE_MS,
    idle_in_transaction_session_timeout: statementMs + GRACE_MS,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    types: exactTypes,
    Client: ErrorSafeClient,
  });
  // Without a listener, a lost idle connection would end the process. The pool replaces it by itself.
  pool.on('error', (error) => {
    // When a process ends, the server may be gone before every connection is closed.
    if (!pool.ending) logger.warn(`Lost an idle connection to the database: ${error.message}`);
  });
  return pool;
}
