import { setFlagsFromString } from 'node:v8';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Database } from './database.js';
import { PrismaClient } from '../generated/prisma/client.js';

/**
 * How much WebAssembly code runs before V8 optimises it. Optimising the query compiler takes more than 20 MB,
 * which the little traffic does not repay.
 */
const NEVER = 2_147_483_647;
/** V8's default. */
const USUAL = 13_000_000;

/**
 * Prisma's model API on the pool of `Database`. For tables with little traffic: it is too slow for the
 * request path.
 */
export class PrismaDatabase extends PrismaClient implements OnApplicationShutdown, OnModuleInit {
  /** A transaction waits for a connection, and for locks, as long as the pool's other callers do. */
  constructor({ pool }: Database) {
    const { connectionTimeoutMillis: maxWait, query_timeout: timeout } = pool.options;
    super({ adapter: new PrismaPg(pool), transactionOptions: { maxWait, timeout } });
  }

  /** Loads the query compiler. Needs no connection to the database. */
  async onModuleInit(): Promise<void> {
    setFlagsFromString(`--wasm-tiering-budget=${NEVER}`);
    try {
      await this.$connect();
    } finally {
      setFlagsFromString(`--wasm-tiering-budget=${USUAL}`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
  }
}
