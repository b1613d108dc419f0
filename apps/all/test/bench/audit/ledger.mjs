// A ledger on a new database of its own, without consumers and jobs.
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Books, Charges } from '@svc/contracts/ports';
import { EventsModule } from '@svc/events';
import { temporaryInfra } from '@svc/infra';
import { JobWorkers } from '@svc/jobs';
import { LedgerModule, ledgerConfig } from '@svc/ledger';
import { HealthModule, LoggerModule, createLogger, loadConfig } from '@svc/runtime';
import { Database, StorageModule, migrate } from '@svc/storage';

const NO_JOBS = {
  module: class NoJobs {},
  global: true,
  providers: [{ provide: JobWorkers, useValue: { work: () => undefined } }],
  exports: [JobWorkers],
};

async function startModule(url) {
  const imports = [
    HealthModule.of(),
    LoggerModule.of(createLogger('silent')),
    StorageModule.at({ url }),
    EventsModule.postgres({ url }),
    NO_JOBS,
    LedgerModule.with(loadConfig(ledgerConfig, {})),
  ];
  const module = { module: class AuditBench {}, imports };
  const app = await NestFactory.create(module, new FastifyAdapter(), { logger: false, abortOnError: false });
  return app.init();
}

/** The parts of a ledger that the bench calls. */
export async function startLedger() {
  const infra = await temporaryInfra();
  try {
    const url = await infra.postgres.start();
    await migrate(url);
    const app = await startModule(url);
    return {
      url,
      books: app.get(Books, { strict: false }),
      charges: app.get(Charges, { strict: false }),
      database: app.get(Database, { strict: false }),
      stop: async () => {
        await app.close();
        await infra.wipe();
      },
    };
  } catch (error) {
    await infra.wipe();
    throw error;
  }
}
