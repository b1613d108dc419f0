import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisConnection, connectRedis } from '@svc/storage';
import { Redis } from 'ioredis';
import type { HoldBookSubject } from './hold-book-subject.js';
import { HoldMarks } from '../src/hold-marks.js';
import { HoldSteps } from '../src/hold-steps.js';
import { RedisHoldBook } from '../src/redis-hold-book.js';
import type { HoldBook } from '../src/hold-book.js';

/** Enough for the busiest machine. */
const WAIT_MS = 60_000;

/** Hold books on a Redis, each with its own keys. */
export interface RedisBooks {
  readonly redis: RedisConnection;
  readonly subject: HoldBookSubject;
  stop(): Promise<void>;
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startRedisBooks(name: string, start: () => Promise<Server>): Promise<RedisBooks> {
  const server = await start();
  const redis = connectRedis({ url: server.url, name: 'test' });
  while (redis.status !== 'ready') await sleep(5);
  const prefixes = new Map<HoldBook, string>();
  const subject: HoldBookSubject = {
    name,
    make: (reads, { nowMs, ...options }) => {
      const prefix = `${randomUUID()}:`;
      const steps = new HoldSteps(redis, { prefix, ...(nowMs && { nowMs }) });
      const marks = new HoldMarks(steps, () => Promise.resolve(), { warn: () => undefined });
      const parts = { reads, marks, log: { error: () => undefined } };
      const book = new RedisHoldBook(steps, parts, { waitMs: WAIT_MS, ...options });
      prefixes.set(book, prefix);
      return book;
    },
    size: async (book) => {
      let count = 0;
      for (const node of redis instanceof Redis ? [redis] : redis.nodes('master'))
        for (const key of await node.keys(`${prefixes.get(book)}*:holds`)) count += await node.hlen(key);
      return count;
    },
  };
  return {
    redis,
    subject,
    stop: async () => {
      redis.disconnect();
      await server.stop();
    },
  };
}
