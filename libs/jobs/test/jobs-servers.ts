import { defineJob } from '@svc/contracts/messages';
import { startTestDatabase, startTestRedis, startTestRedisCluster } from '@svc/storage/testing';
import { Client } from 'pg';
import { z } from 'zod';
import type { JobsBackend } from '../src/backend.js';

/** The job of this library's tests. */
export const count = defineJob({
  queue: 'counts',
  name: 'count',
  payload: z.strictObject({ n: z.int() }),
  attempts: 3,
  backoffMs: 50,
  deadlineMs: 10_000,
});

/** A real server for jobs that can be suspended. */
export interface JobsServer {
  readonly backend: JobsBackend;
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<JobsServer> {
  const database = await startTestDatabase();
  const other = new URL(database.url);
  const name = other.pathname.slice(1);
  other.pathname = '/postgres';
  const admin = new Client({ connectionString: other.href });
  admin.on('error', () => undefined);
  await admin.connect();
  return {
    backend: { kind: 'postgres', url: database.url },
    leave: async () => {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    },
    comeBack: async () => {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    },
    stop: async () => {
      await admin.end();
      await database.stop();
    },
  };
}

export async function startRedis(): Promise<JobsServer> {
  const redis = await startTestRedis();
  return {
    backend: { kind: 'redis', url: redis.url },
    leave: async () => redis.signal('SIGKILL'),
    comeBack: () => redis.restart(),
    stop: () => redis.stop(),
  };
}

/** A cluster of three servers, which can't be suspended. */
export async function startRedisCluster(): Promise<JobsServer> {
  const { url, stop } = await startTestRedisCluster();
  const stays = (): Promise<void> => Promise.resolve();
  return { backend: { kind: 'redis', url }, leave: stays, comeBack: stays, stop };
}
