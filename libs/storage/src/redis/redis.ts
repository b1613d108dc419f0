import { Redis } from 'ioredis';
import { type StorageLogger, silent } from '../logger.js';

/** A connection attempt that takes longer has failed. */
const CONNECT_MS = 2_000;

/** A connection that owes an answer and is silent for this long is given up. */
const SILENCE_MS = 5_000;

/** The next attempt comes after this time and up to as long again, so that processes do not come all at once. */
const RETRY_MS = 200;

export interface RedisConfig {
  /** `redis://[user:password@]host:port[/database]`, or `rediss:` over TLS. One primary, no cluster. */
  readonly url: string;
  /** Shown in the server's list of clients. */
  readonly name: string;
  readonly logger?: StorageLogger;
}

/**
 * A connection to Redis that never makes anybody wait for it: while there is none a command rejects at once, when it
 * breaks those under way reject, and none is sent again. It comes back by itself. How long an answer may take is the
 * caller's to say; a late one still resolves its promise, so that what it did can be undone.
 */
export function connectRedis({ url, name, logger = silent }: RedisConfig): Redis {
  const redis = new Redis(url, {
    connectionName: name,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: false,
    protocol: 2,
    retryStrategy: () => RETRY_MS * (1 + Math.random()),
  });
  let isTold = false;
  // Each attempt that fails is an error of its own; once an outage is enough.
  redis.on('error', (error: Error) => {
    if (!isTold) logger.warn(`${name}: no Redis: ${error.message}`);
    isTold = true;
  });
  redis.on('ready', () => {
    if (isTold) logger.info(`${name}: Redis is back`);
    isTold = false;
  });
  return redis;
}
