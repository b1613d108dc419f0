// The databases of a run, on one embedded PostgreSQL, and the ledger on one of them.
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Books, Ledger } from '@svc/contracts/ports';
import { NANO_PER_USD } from '@svc/contracts/money';
import { usageRecorded } from '@svc/contracts/messages';
import { EventStrategy, EventsModule } from '@svc/events';
import { JobsModule } from '@svc/jobs';
import { LedgerModule, ledgerConfig } from '@svc/ledger';
import { HealthModule, LoggerModule, createLogger, loadConfig } from '@svc/runtime';
import {
  PrismaDatabase,
  StorageModule,
  createPool,
  Database,
  migrate,
  startEmbeddedPostgres,
} from '@svc/storage';

const CREDIT_NANO = 100_000n * NANO_PER_USD;
const CREDITS_AT_ONCE = 16;
const DRAIN_MS = 120_000;
/** The consumer group in which the ledger posts events. */
const LEDGER_GROUP = 'ledger';

/**
 * A temporary PostgreSQL with two databases of the same accounts: `ledger` for the ledger, `rows` for its
 * rival.
 */
export class LedgerPlace {
  static async open({ accounts, say }) {
    const place = new LedgerPlace();
    try {
      await place.#start(accounts, say);
      return place;
    } catch (error) {
      await place.close();
      throw error;
    }
  }

  urlOf(database) {
    const url = new URL(this.server.url);
    url.pathname = `/${database}`;
    return url.href;
  }

  /** Forces a checkpoint, so that one measurement does not pay for the previous one. */
  async settleDown() {
    await this.pool.query('CHECKPOINT');
  }

  async close() {
    await this.ledger?.stop();
    await this.rows?.stop();
    await this.pool?.end();
    await this.server?.stop();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #start(accounts, say) {
    this.dir = mkdtempSync(join(tmpdir(), 'svc-bench-ledger-'));
    // The embedded PostgreSQL may run as another user, who needs access.
    chmodSync(this.dir, 0o711);
    this.server = await startEmbeddedPostgres({ dataDir: join(this.dir, 'data') });
    this.pool = createPool(this.server.url, { name: 'bench', max: 1, statementMs: 120_000 });
    say(`giving ${accounts} accounts their credit`);
    await this.pool.query('CREATE DATABASE ledger');
    await migrate(this.urlOf('ledger'));
    this.ids = Array.from({ length: accounts }, () => randomUUID());
    this.hotId = randomUUID();
    await this.#credit();
    await this.pool.query('CREATE DATABASE rows TEMPLATE ledger');
    this.ledger = await startLedger(this.urlOf('ledger'));
    this.rows = rowsOn(this.urlOf('rows'));
  }

  async #credit() {
    const ledger = await startLedger(this.urlOf('ledger'));
    const left = [this.hotId, ...this.ids];
    const credit = async () => {
      for (let accountId = left.pop(); accountId; accountId = left.pop())
        await ledger.books.credit({ accountId, usdNano: CREDIT_NANO, reference: 'bench' });
    };
    await Promise.all(Array.from({ length: CREDITS_AT_ONCE }, credit));
    await ledger.stop();
  }
}

/** The ledger as in a process of the platform: its module, the event log, and the posting consumer. */
async function startLedger(url) {
  const ledger = LedgerModule.with(loadConfig(ledgerConfig, {}));
  const imports = [
    HealthModule.of(),
    LoggerModule.of(createLogger('error')),
    StorageModule.at({ url }),
    EventsModule.postgres({ url }),
    JobsModule.postgres({ url }),
    ledger,
  ];
  const app = await NestFactory.create({ module: class LedgerBench {}, imports }, new FastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
  const strategy = app.get(EventStrategy, { strict: false });
  app.connectMicroservice({ strategy });
  await app.startAllMicroservices();
  await app.init();
  const part = (token) => app.get(token, { strict: false });
  return {
    ledger: part(Ledger),
    books: part(Books),
    poster: part(ledger.providers.find(({ name }) => name === 'Poster')),
    /** Resolves when all recorded events are posted. */
    drained: () => strategy.drained(usageRecorded.topic, LEDGER_GROUP, DRAIN_MS),
    stop: () => app.close(),
  };
}

function rowsOn(url) {
  const database = new Database(createPool(url, { name: 'rows', max: 20, connectMs: 60_000 }));
  const prisma = new PrismaDatabase(database);
  return {
    prisma,
    query: (text, values) => database.query(text, values),
    stop: async () => {
      await prisma.onApplicationShutdown();
      await database.onApplicationShutdown();
    },
  };
}
