import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type SentinelAddress, sentinelAddress } from '@svc/runtime';
import { neighbours } from '@svc/telemetry';
import { type StorageLogger, silent } from '../logger.js';

/** Timeout of a connection attempt. */
const CONNECT_MS = 2_000;

/** A connection that owes a response and is silent for this long is closed. */
const SILENCE_MS = 5_000;

/**
 * The next attempt follows after this time plus a random part of up to the same, so that processes spread
 * out.
 */
const RETRY_MS = 200;

/** How often a cluster's slot map is refreshed. */
const SLOTS_MS = 5_000;

/** A server, or a cluster that discovers its nodes. */
export type RedisConnection = Redis | Cluster;

export interface RedisConfig {
  /**
   * `redis://[user:password@]host:port[/database]`, or `rediss:` over TLS. Several URLs, separated by commas,
   * are nodes of a Redis Cluster; a single URL with a comma at the end is one too. `redis+sentinel:` lists
   * Sentinels, which name the master.
   */
  readonly url: string;
  /** Shown in the server's client list. */
  readonly name: string;
  readonly logger?: StorageLogger;
}

/**
 * A connection to Redis that never blocks its callers: without a connection a command rejects at once, when
 * it breaks the running commands reject, and none is sent again. It reconnects by itself. Callers choose
 * their own timeouts; a late response still resolves its promise, so that its effect can be undone.
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
  const redis = isCluster(url) ? connectCluster(url, options) : connectServer(url, options);
  const endWatch = neighbours.redisUp.observe(() => [[redis.status === 'ready' ? 1 : 0, name]]);
  redis.on('end', endWatch);
  let isReported = false;
  // Each failed attempt emits an error; one log line per outage is enough.
  redis.on('error', (error: Error) => {
    if (!isReported) logger.warn(`${name}: cannot connect to Redis, retrying (${error.message})`);
    isReported = true;
  });
  redis.on('ready', () => {
    if (isReported) logger.info(`${name}: reconnected to Redis`);
    isReported = false;
  });
  return redis;
}

/**
 * Commands of the same turn are sent in one write, so that the server processes and answers them together.
 */
class GatheringRedis extends Redis {
  private isGathering = false;

  override sendCommand(...given: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    if (!this.isGathering && stream) {
      this.isGathering = true;
      stream.cork();
      process.nextTick(() => {
        this.isGathering = false;
        stream.uncork();
      });
    }
    return super.sendCommand(...given);
  }
}

function connectServer(url: string, options: RedisOptions): Redis {
  const address = sentinelAddress(url);
  return address
    ? new GatheringRedis({ ...options, ...sentinelOptions(address), replyMapping: 'legacy' })
    : new GatheringRedis(url, { ...options, replyMapping: 'legacy' });
}

/** The connection is always to the master that a Sentinel names. */
function sentinelOptions(address: SentinelAddress): RedisOptions {
  const { sentinels, master, database, username, password, sentinelPassword, isTls } = address;
  return {
    sentinels: [...sentinels],
    name: master,
    role: 'master',
    db: database,
    // A server that has lost the role of master, without its connections being closed. ioredis's own detector
    // of failovers may end the connection for ever if it reconnects at that moment.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    sentinelRetryStrategy: retryMs,
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(sentinelPassword !== '' && { sentinelPassword }),
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

const retryMs = (): number => RETRY_MS * (1 + Math.random());

/** Whether the URL is that of a cluster. */
export function isCluster(url: string): boolean {
  return url.includes(',') && !sentinelAddress(url);
}

/** How often a command is redirected to the right node when slots move. */
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

/**
 * A connection to a cluster for workers that wait for jobs: commands wait for the connection, without a
 * timeout.
 */
export function connectBlockingCluster(urls: string): Cluster {
  const redisOptions = { connectTimeout: CONNECT_MS, maxRetriesPerRequest: null, ...credentialsOf(urls) };
  return new Cluster(nodesOf(urls), { clusterRetryStrategy: retryMs, redisOptions });
}

const nodesOf = (urls: string): string[] =>
  urls
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');

/** All nodes of a cluster use the credentials of the first URL. */
function credentialsOf(urls: string): RedisOptions {
  const { username, password, protocol } = new URL(nodesOf(urls)[0] ?? '');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
