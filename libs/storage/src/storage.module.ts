import { type DynamicModule, Module } from '@nestjs/common';
import { Database } from './sql/database.js';
import { createPool } from './sql/pool.js';
import type { StorageLogger } from './logger.js';
import { PrismaDatabase } from './sql/prisma-database.js';

export interface StorageConfig {
  readonly url: string;
  /** Maximum number of connections, including Prisma's; default: 10. */
  readonly maxConnections?: number;
  readonly logger?: StorageLogger;
}

/** Provides one database to the whole application. */
@Module({})
export class StorageModule {
  static at({ url, maxConnections, logger }: StorageConfig): DynamicModule {
    return {
      module: StorageModule,
      global: true,
      providers: [
        {
          provide: Database,
          useFactory: () =>
            new Database(
              createPool(url, {
                name: 'svc',
                ...(maxConnections && { max: maxConnections }),
                ...(logger && { logger }),
              }),
            ),
        },
        {
          provide: PrismaDatabase,
          useFactory: (database: Database) => new PrismaDatabase(database),
          inject: [Database],
        },
      ],
      exports: [Database, PrismaDatabase],
    };
  }
}
