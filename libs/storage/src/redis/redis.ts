import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { neighbours } from '@svc/telemetry';
import { type StorageLogger, silent } from '../logger.js';

/** A connection attempt that takes longer has failed. */
const CONNECT_MS = 2_000;

/** A connection that owes an answer and is silent for this long is given up. */
const SILENCE_MS = 5_000;

/** The next attempt comes after this time and up to as long again, so that processes do not come all at once. */
const RETRY_MS = 200;

/** How often a cluster is asked which node has what. */
const SLOTS_MS = 5_000;

/** A server, or a cluster whose nodes are found by themselves. */
export type RedisConnection = Redis | Cluster;

export interface RedisConfig {
  /**
   * `redis://[user:password@]host:port[/database]`, or `rediss:` over TLS. Several by commas are nodes of a Redis Cluster,
   * and a comma at the end says that one is.
   */
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
export function connectRedis({ url, name, logger = silent }: RedisConfig): RedisConnection {
  const options: RedisOptions = {
    connectionName: name,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: false,
    protocol: 2,
    retryStrategy: retryMs,
  };
  const redis = isCluster(url) ? connectCluster(url, options) : new GatheringRedis(url, options);
  const endWatch = neighbours.redisUp.observe(() => [[redis.status === 'ready' ? 1 : 0, name]]);
  redis.on('end', endWatch);
  let isTold = false;
  // Each attempt that fails is an error of its own; once an outage is enough.
  redis.on('error', (error: Error) => {
    if (!isTold) logger.warn(`${name}: Redis can't be reached and is tried again (${error.message})`);
    isTold = true;
  });
  redis.on('ready', () => {
    if (isTold) logger.info(`${name}: Redis is back`);
    isTold = false;
  });
  return redis;
}

/** Commands of the same turn go to the server as one write, so that it reads and answers them together. */
class GatheringRedis extends Redis {
  #isGathering = false;

  constructor(url: string, options: RedisOptions) {
    super(url, { ...options, replyMapping: 'legacy' });
  }

  override sendCommand(...given: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    if (!this.#isGathering && stream) {
      this.#isGathering = true;
      stream.cork();
      process.nextTick(() => {
        this.#isGathering = false;
        stream.uncork();
      });
    }
    return super.sendCommand(...given);
  }
}

const retryMs = (): number => RETRY_MS * (1 + Math.random());

/** Whether an address is that of a cluster. */
export function isCluster(url: string): boolean {
  return url.includes(',');
}

/** Commands that come to the wrong node, as its slots move, are sent to the right one. */
const MOVES = 3;

function connectCluster(urls: string, { retryStrategy: _of, ...options }: RedisOptions): Cluster {
  return new Cluster(nodesOf(urls), {
    enableOfflineQueue: false,
    clusterRetryStrategy: retryMs,
    maxRedirections: MOVES,
    retryDelayOnFailover: RETRY_MS,
    retryDelayOnClusterDown: RETRY_MS,
    slotsRefreshTimeout: CONNECT_MS,
    slotsRefreshInterval: SLOTS_MS,
    redisOptions: { ...options, ...credentialsOf(urls) },
  });
}

/** A connection to a cluster for who waits there for work: commands wait for it too, for as long as it takes. */
export function connectBlockingCluster(urls: string): Cluster {
  const redisOptions = { connectTimeout: CONNECT_MS, maxRetriesPerRequest: null, ...credentialsOf(urls) };
  return new Cluster(nodesOf(urls), { clusterRetryStrategy: retryMs, redisOptions });
}

const nodesOf = (urls: string): string[] =>
  urls
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');

/** The nodes of a cluster have one user, which the first of them names. */
function credentialsOf(urls: string): RedisOptions {
  const { username, password, protocol } = new URL(nodesOf(urls)[0] ?? '');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
