import assert from 'node:assert/strict';
import { within } from '@svc/runtime';
import { ErrorSafeClient, connectBlockingCluster, isCluster } from '@svc/storage';
import type { BackendFactory, IQueueBackend, Job, JobProgress, Queue, Worker } from 'bullmq';

/** The server that stores jobs. */
export type JobsBackend =
  { readonly kind: 'postgres'; readonly url: string } | { readonly kind: 'redis'; readonly url: string };

/** The schema of BullMQ's tables, which it creates and migrates itself. */
const SCHEMA = 'jobs';
/** The braces keep the keys of a queue on one node of a Redis cluster. */
const PREFIX = '{jobs}';
const IDLE_MS = 150_000;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;
const OPEN_MS = 10_000;
const FAILED_CLOSE_MS = 1_000;
const DISCONNECT_MS = 500;

/** A locked job is being worked on. Without a renewal for this long, another worker takes it. */
const LOCK_MS = 60_000;
/**
 * Workers are notified of new jobs. They also poll at this interval, because a notification may be lost while
 * a worker reconnects after an outage.
 */
const POLL_S = 30;
/** How many crashes of its process a job survives. */
const STALLS = 5;
const RETRY_MS = 1_000;

type AnyFactory = BackendFactory<IQueueBackend, unknown>;
export type AnyQueue = Queue<unknown, void, string, unknown, void, string, IQueueBackend, unknown>;
export type AnyWorker = Worker<unknown, void, string, IQueueBackend, JobProgress, unknown>;
export type Process = (job: Job<unknown, void>, token: string | undefined) => Promise<void>;

/** Loading takes a tenth of a second, so it is deferred until needed. */
const loadBull = (): Promise<typeof import('bullmq')> => import('bullmq');

async function optionsOf(backend: JobsBackend) {
  const bull = await loadBull();
  switch (backend.kind) {
    case 'postgres':
      return {
        bull,
        factory: withErrorSafeClient(bull.createPostgresBackend) as unknown as AnyFactory,
        connection: {
          connectionString: backend.url,
          schema: SCHEMA,
          migrate: true,
          max: 2,
          // Longer than the pauses between counts, each of which would otherwise open a connection.
          idleTimeoutMillis: IDLE_MS,
          connectionTimeoutMillis: CONNECT_MS,
          statement_timeout: STATEMENT_MS,
          query_timeout: STATEMENT_MS + 2_000,
          keepAlive: true,
          application_name: 'svc-jobs',
          Client: ErrorSafeClient,
        },
      };
    case 'redis':
      return {
        bull,
        factory: bull.createRedisBackend as unknown as AnyFactory,
        connection: redisConnection(backend.url),
      };
  }
}

function redisConnection(url: string) {
  return isCluster(url)
    ? connectBlockingCluster(url)
    : { url, maxRetriesPerRequest: null, connectTimeout: CONNECT_MS };
}

/** Connections that were created for a part, which does not close them itself. */
const lent = new WeakMap<Part, { disconnect(): void }>();

function lend<Lent extends Part>(part: Lent, connection: object): Lent {
  if ('disconnect' in connection) lent.set(part, connection as { disconnect(): void });
  return part;
}

type PostgresFactory = typeof import('bullmq').createPostgresBackend;

/**
 * BullMQ creates its notification connection itself, without an error listener before it is open and while it
 * closes: if the server ended the connection then, the process would crash.
 */
function withErrorSafeClient(create: PostgresFactory): PostgresFactory {
  return (...args) => {
    const backend = create(...args);
    const { connection } = backend as unknown as { connection: { pgModule: unknown } };
    assert(connection.pgModule, 'this BullMQ makes its connections otherwise');
    connection.pgModule = { Client: ErrorSafeClient };
    return backend;
  };
}

/** A queue for adding jobs. Rejects if the backend does not respond. */
export async function openQueue(backend: JobsBackend, name: string): Promise<AnyQueue> {
  const { bull, factory, connection } = await optionsOf(backend);
  const queue: AnyQueue = new bull.Queue(name, { connection, prefix: PREFIX }, factory);
  return opened(lend(queue, connection));
}

/** A worker that is ready but not running yet. Rejects if the backend does not respond. */
export async function openWorker(backend: JobsBackend, name: string, process: Process): Promise<AnyWorker> {
  const { bull, factory, connection } = await optionsOf(backend);
  const options = {
    connection,
    prefix: PREFIX,
    autorun: false,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS,
    maxStalledCount: STALLS,
    drainDelay: POLL_S,
    runRetryDelay: RETRY_MS,
  };
  const worker: AnyWorker = new bull.Worker(name, process, options, factory);
  return opened(lend(worker, connection));
}

interface Part {
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  disconnect(): Promise<void>;
}

/** A part that failed to open never recovers, so it is discarded. */
async function opened<Opening extends Part>(part: Opening): Promise<Opening> {
  // Without a listener an error would go to the console.
  part.on('error', () => undefined);
  try {
    await within(OPEN_MS, part.waitUntilReady(), () => new Error('the backend of jobs does not respond'));
    return part;
  } catch (error) {
    await closePart(part, FAILED_CLOSE_MS);
    throw error;
  }
}

/**
 * Gives it a limited time to finish; then closes its connections, which would otherwise reconnect forever.
 */
export async function closePart(part: Part, deadlineMs: number): Promise<void> {
  await within(deadlineMs, part.close()).catch(() => undefined);
  await within(DISCONNECT_MS, part.disconnect()).catch(() => undefined);
  lent.get(part)?.disconnect();
}
