import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { Books, Payments } from '@svc/contracts/ports';
import { JobWorkers } from '@svc/jobs';
import { RootLogger } from '@svc/runtime';
import { Database } from '@svc/storage';
import { PaymentAuditStore } from './audit/audit.store.js';
import { PaymentsAudit } from './audit/payments-audit.js';
import { scheduleAudits } from './audit/payments-audit.worker.js';
import { LocalPayments, NoPayments } from './local-payments.js';
import { OperatorActions } from './operator/operator-actions.js';
import { PaymentListStore } from './records/payment-list.store.js';
import { PaymentStore } from './records/payment.store.js';
import type { PaymentsConfig } from './payments.config.js';
import { ConfiguredRail, type RailKind } from './rails/rail-kind.js';
import { RAILS } from './rails/rails.js';
import { PaymentWatch } from './settlement/payment-watch.js';
import { PaymentSettlement } from './settlement/settlement.js';

@Injectable()
class Neighbours {
  constructor(
    readonly database: Database,
    readonly books: Books,
    readonly workers: JobWorkers,
    readonly logger: RootLogger,
  ) {}
}

/**
 * The payments themselves. Needs the global modules of storage, jobs and logging; `books` provides `Books`.
 */
@Module({})
export class PaymentsModule {
  static with(
    config: PaymentsConfig,
    books: DynamicModule,
    kinds: readonly RailKind[] = RAILS,
  ): DynamicModule {
    return {
      module: PaymentsModule,
      imports: [books],
      providers: [
        Neighbours,
        {
          provide: Payments,
          useFactory: (neighbours: Neighbours) => paymentsOf(config, kinds, neighbours),
          inject: [Neighbours],
        },
      ],
      exports: [Payments],
    };
  }
}

async function paymentsOf(
  config: PaymentsConfig,
  kinds: readonly RailKind[],
  { database, books, workers, logger }: Neighbours,
): Promise<Payments> {
  const { X402_SETTLE_WAIT_MS: waitMs, X402_FACILITATOR_URL: facilitatorUrl } = config;
  const store = new PaymentStore(database);
  const configured = kinds.map((kind) => new ConfiguredRail(kind, config, { store, facilitatorUrl }));
  const complete = configured.filter(({ missing }) => missing.length === 0);
  const begun = configured.filter(({ isBegun, missing }) => isBegun && missing.length > 0);
  if (complete.length === 0) return new NoPayments((begun[0] ?? configured[0])?.missing ?? []);
  if (begun.length > 0)
    logger.log.warn(
      { missing: begun.flatMap(({ missing }) => missing) },
      'a payment method is not offered because settings are missing',
    );
  const rails = await Promise.all(complete.map((rail) => rail.open()));
  const settlement = new PaymentSettlement({ store, books, rails, logger, leaseMs: config.X402_LEASE_MS });
  const watch = new PaymentWatch({ store, rails });
  const audit = new PaymentsAudit({ rails, store: new PaymentAuditStore(database), books, log: logger.log });
  scheduleAudits(workers, audit);
  const records = new PaymentListStore(database, kinds);
  return new LocalPayments({
    waitMs,
    rails,
    store,
    settlement,
    watch,
    operatorActions: new OperatorActions({ records, store, settlement }),
    audit,
    log: logger.log,
  });
}
