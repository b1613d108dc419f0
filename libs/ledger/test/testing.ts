import { randomUUID } from 'node:crypto';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Accounting } from '@svc/contracts/accounting';
import { Books, type Hold, Ledger, UsageHistory } from '@svc/contracts/ports';
import { type Charge, type EventDefinition, EventLog, type JobDefinition } from '@svc/contracts/messages';
import { NANO_PER_USD } from '@svc/contracts/money';
import { EventStrategy, EventsModule } from '@svc/events';
import { HoldBook, type MemoryHoldBook } from '@svc/hold-book';
import { type JobTimes, type JobWorker, JobWorkers } from '@svc/jobs';
import { HealthModule, LoggerModule, Readiness, createLogger, loadConfig } from '@svc/runtime';
import { Database, StorageModule } from '@svc/storage';
import { Clock } from '../src/clock.js';
import { type SharedLedgerConfig, ledgerConfig } from '../src/ledger.config.js';
import { LedgerModule } from '../src/ledger.module.js';
import { RenewingLedger } from '../src/renewing-ledger.js';
import { Poster } from '../src/posting/poster.js';
import { Staking } from '../src/staking/staking.js';

/** An event log that can be made to fail. */
export class FailingLog extends EventLog {
  /** `refuse` stores nothing; `lose` stores the event but rejects; `hang` never resolves. */
  mode: 'work' | 'refuse' | 'lose' | 'hang' = 'work';

  constructor(private readonly log: EventLog) {
    super();
  }

  override async publish<Payload>(event: EventDefinition<Payload>, payload: Payload): Promise<void> {
    if (this.mode === 'hang') return new Promise(() => undefined);
    if (this.mode !== 'refuse') await this.log.publish(event, payload);
    if (this.mode !== 'work') throw new Error('the event log is down');
  }
}

@Module({
  providers: [
    { provide: FailingLog, useFactory: (log: EventLog) => new FailingLog(log), inject: [EventLog] },
  ],
  exports: [FailingLog],
})
export class FailingLogModule {}

/** A job with its registered worker. */
interface Registered {
  readonly job: JobDefinition;
  readonly worker: JobWorker<unknown>;
  readonly times?: JobTimes<unknown>;
}

/** Workers that run only when a test starts them. */
class ManualWorkers extends JobWorkers {
  readonly registered: Registered[] = [];

  override work<Payload>(
    job: JobDefinition<Payload>,
    worker: JobWorker<Payload>,
    times?: JobTimes<Payload>,
  ): void {
    this.registered.push({ job, worker, times } as unknown as Registered);
  }
}

@Global()
@Module({
  providers: [{ provide: JobWorkers, useClass: ManualWorkers }],
  exports: [JobWorkers],
})
class ManualWorkersModule {}

/** A running ledger and its parts. */
export interface RunningLedger {
  readonly app: NestFastifyApplication;
  readonly ledger: RenewingLedger;
  readonly accounting: Accounting;
  readonly books: Books;
  readonly history: UsageHistory;
  readonly poster: Poster;
  readonly holdBook: HoldBook;
  /** The number of holds in the book: live ones, and settled ones whose charge is not posted yet. */
  held(): Promise<number>;
  readonly log: FailingLog;
  readonly database: Database;
  readonly readiness: Readiness;
  readonly staking: Staking;
  readonly workers: ManualWorkers;
  stop(): Promise<void>;
}

export interface LedgerOptions {
  readonly url: string;
  readonly config?: Partial<SharedLedgerConfig>;
  /** Without consumers, no recorded charge is posted. */
  readonly consume?: boolean;
  /** Sets the time for stakes; default: the real time. */
  readonly clock?: Clock;
}

export async function startLedger({ config, ...options }: LedgerOptions): Promise<RunningLedger> {
  const module = LedgerModule.with({ ...loadConfig(ledgerConfig, {}), ...config });
  const running = await startLedgerOf(module, options);
  return {
    ...running,
    held: () => Promise.resolve((running.holdBook as MemoryHoldBook).size),
  };
}

/** Runs a ledger module on its database and its event log. */
export async function startLedgerOf(
  module: DynamicModule,
  { url, consume = true, clock = new Clock() }: Omit<LedgerOptions, 'config'>,
): Promise<Omit<RunningLedger, 'held'>> {
  const app = await NestFactory.create<NestFastifyApplication>(
    {
      module: class LedgerTest {},
      imports: [
        HealthModule.of(),
        LoggerModule.of(createLogger('silent')),
        StorageModule.at({ url }),
        EventsModule.postgres({ url, pollMs: 50 }),
        ManualWorkersModule,
        {
          ...module,
          imports: [FailingLogModule],
          providers: [
            ...(module.providers ?? []),
            { provide: EventLog, useExisting: FailingLog },
            { provide: Clock, useValue: clock },
          ],
        },
      ],
    },
    new FastifyAdapter(),
    { logger: false, abortOnError: false },
  );
  if (consume) {
    app.connectMicroservice({ strategy: app.get(EventStrategy) });
    await app.startAllMicroservices();
  }
  await app.init();
  const part = <Part>(token: abstract new (...args: never[]) => Part): Part =>
    app.get(token, { strict: false });
  return {
    app,
    ledger: part(Ledger) as RenewingLedger,
    accounting: part(Accounting),
    books: part(Books),
    history: part(UsageHistory),
    poster: part(Poster),
    holdBook: part(HoldBook),
    log: part(FailingLog),
    database: part(Database),
    readiness: part(Readiness),
    staking: part(Staking),
    workers: part(JobWorkers) as ManualWorkers,
    stop: () => app.close(),
  };
}

export const usd = (amount: number): bigint => (BigInt(Math.round(amount * 1e6)) * NANO_PER_USD) / 1_000_000n;

/** A charge in USD with one line, by default for a request of its own. */
export function chargeOf(accountId: string, usdNano: bigint, more: Partial<Charge> = {}): Charge {
  const cost = more.cost ?? { usdNano, diemNano: 0n };
  const amountNano = cost.usdNano + cost.diemNano + (more.writeOffNano ?? 0n);
  return {
    requestId: `chatcmpl-${randomUUID()}`,
    accountId,
    keyId: 'key',
    model: 'model',
    backend: 'http://127.0.0.1:4000/v1',
    at: new Date().toISOString(),
    usage: {
      promptTokens: 10,
      completionTokens: 20,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    },
    lines: [
      {
        sku: 'model-llm-output-mtoken',
        unit: 'token',
        units: 20,
        priceNanoPerMillion: 1_000_000n,
        amountNano,
      },
    ],
    writeOffNano: 0n,
    durationMs: 5,
    ...more,
    cost,
  };
}

/** A charge for the request of a hold. */
export function chargeFor(hold: Hold, usdNano: bigint): Charge {
  return chargeOf(hold.accountId, usdNano, { requestId: hold.requestId });
}

/** A hold request with a request id of its own. */
export function requestOf(accountId: string, amountNano: bigint): Parameters<Ledger['hold']>[0] {
  return { requestId: `chatcmpl-${randomUUID()}`, accountId, keyId: 'key', amountNano };
}

/** Opens an account with this money, and returns its id. */
export async function newAccount(
  { books, database }: Pick<RunningLedger, 'books' | 'database'>,
  usdNano: bigint,
  diemNano = 0n,
): Promise<string> {
  const accountId = randomUUID();
  await books.credit({ accountId, usdNano, reference: 'start' });
  if (diemNano > 0n) await grantDiem(database, accountId, diemNano);
  return accountId;
}

/** Grants an account DIEM as a stake does. Call it before the account first holds. */
export async function grantDiem(database: Database, accountId: string, diemNano: bigint): Promise<void> {
  await database.query(
    `WITH transfer AS (
       INSERT INTO ledger.transfers
         (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
       VALUES (now(), $1::uuid, 'grant', 'staking', 'customer:' || $1::uuid, 'DIEM', $2, 'day') RETURNING *
     ), reference AS (
       INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
       SELECT account_id, kind, currency, reference, id, at FROM transfer
     ), stake AS (
       INSERT INTO ledger.stakes (account_id, tokens_nano, granted_on)
       VALUES ($1::uuid, $2, (now() AT TIME ZONE 'UTC')::date)
     )
     UPDATE ledger.accounts SET diem_nano = $2, version = version + 1 WHERE id = $1::uuid`,
    [accountId, diemNano],
  );
}
