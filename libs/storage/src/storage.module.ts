import { type DynamicModule, Module, type Provider } from '@nestjs/common';
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

/** A database for stores, before or without an application. Connects when it is used. */
export function openPool({ url, maxConnections, logger }: StorageConfig): Database {
  const options = { name: 'svc', ...(maxConnections && { max: maxConnections }), ...(logger && { logger }) };
  return new Database(createPool(url, options));
}

/** Provides one database to the whole application. */
@Module({})
export class StorageModule {
  static at(config: StorageConfig): DynamicModule {
    return StorageModule.with({ provide: Database, useFactory: () => openPool(config) });
  }

  /** The application closes the database. */
  static of(database: Database): DynamicModule {
    return StorageModule.with({ provide: Database, useValue: database });
  }

  private static with(database: Provider<Database>): DynamicModule {
    return {
      module: StorageModule,
      global: true,
      providers: [
        database,
        {
          provide: PrismaDatabase,
          useFactory: (one: Database) => new PrismaDatabase(one),
          inject: [Database],
        },
      ],
      exports: [Database, PrismaDatabase],
    };
  }
}
