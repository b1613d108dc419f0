import type { OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Database } from './database.js';
import { PrismaClient } from '../generated/prisma/client.js';

/**
 * Prisma's model API on the pool of `Database`. For tables with little traffic: it is too slow for the
 * request path.
 */
export class PrismaDatabase extends PrismaClient implements OnApplicationShutdown {
  constructor(database: Database) {
    super({ adapter: new PrismaPg(database.pool) });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.$disconnect();
  }
}
