import { type DynamicModule, Module } from '@nestjs/common';
import { Books, Payments } from '@svc/contracts/ports';
import { RootLogger } from '@svc/runtime';
import { Database } from '@svc/storage';
import { PaymentAuditStore } from './audit/audit.store.js';
import { PaymentsAudit } from './audit/payments-audit.js';
import { LocalPayments, NoPayments } from './local-payments.js';
import { OperatorActions } from './operator/operator-actions.js';
import { PaymentListStore } from './records/payment-list.store.js';
import { PaymentStore } from './records/payment.store.js';
import type { PaymentsConfig } from './payments.config.js';
import { ConfiguredRail, type RailKind } from './rails/rail-kind.js';
import { RAILS } from './rails/rails.js';
import { PaymentWatch } from './settlement/payment-watch.js';
import { PaymentSettlement } from './settlement/settlement.js';

/** The payments themselves. Needs the global modules of storage and logging; `books` provides `Books`. */
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
        {
          provide: Payments,
          useFactory: (database: Database, ledger: Books, logger: RootLogger) =>
            paymentsOf(config, kinds, { database, books: ledger, logger }),
          inject: [Database, Books, RootLogger],
        },
      ],
      exports: [Payments],
    };
  }
}

interface Neighbours {
  readonly database: Database;
  readonly books: Books;
  readonly logger: RootLogger;
}

async function paymentsOf(
  config: PaymentsConfig,
  kinds: readonly RailKind[],
  { database, books, logger }: Neighbours,
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
  const audits = new PaymentAuditStore(database);
  const records = new PaymentListStore(database, kinds);
  return new LocalPayments({
    waitMs,
    rails,
    store,
    settlement,
    watch,
    operatorActions: new OperatorActions({ records, store, settlement }),
    audit: new PaymentsAudit({ rails, store: audits, books, log: logger.log }),
    log: logger.log,
  });
}
