import type { Books } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { type RootLogger, createLogger } from '@svc/runtime';
import type { Database } from '@svc/storage';
import { PaymentAuditStore } from '../src/audit/audit.store.js';
import { PaymentsAudit } from '../src/audit/payments-audit.js';
import { LocalPayments } from '../src/local-payments.js';
import { OperatorActions } from '../src/operator/operator-actions.js';
import { PaymentListStore } from '../src/records/payment-list.store.js';
import { PaymentStore } from '../src/records/payment.store.js';
import { BASE } from '../src/rails/base.js';
import { openEvmRail } from '../src/rails/evm-rail.js';
import { RAILS } from '../src/rails/rails.js';
import { PaymentWatch } from '../src/settlement/payment-watch.js';
import type { Rail } from '../src/settlement/rail.js';
import { PaymentSettlement } from '../src/settlement/settlement.js';
import { FacilitatorSubmission, OwnSubmission } from '../src/settlement/submissions.js';
import type { Plan } from './history-steps.js';
import { Life, crashing } from './crashing.js';
import { PAY_TO, type TestChain } from './test-chain.js';

/** Times are moved in the database instead of waiting. */
const MINUTE_MS = 60_000;
const AT_ONCE = 50;

const logger: RootLogger = { log: createLogger('silent') };

export interface ProcessDependencies {
  readonly database: Database;
  readonly books: Books;
  /** Whether the books respond. */
  readonly areBooksThere: () => boolean;
  /** The rail, for a process that may die. */
  readonly railOf: (life: Life, store: PaymentStore) => Rail;
}

/** The rail of a test chain, as the process with this number sees it. */
export function testRail(
  chain: Pick<TestChain, 'node' | 'signer' | 'facilitator'>,
  plan: Pick<Plan, 'submits' | 'confirmations'>,
  at = 0,
): ProcessDependencies['railOf'] {
  return (life, store) => {
    const node = crashing(chain.node(at, plan.confirmations), life);
    const submission =
      plan.submits === 'signer'
        ? new OwnSubmission(node, store, { signer: chain.signer, stuckMs: MINUTE_MS / 2 })
        : new FacilitatorSubmission(crashing(chain.facilitator, life), store);
    return openEvmRail(BASE, { payTo: PAY_TO, chain: node, submission });
  };
}

/** The payments of one process, which may die at any call to database, books, node or facilitator. */
export class PaymentProcess {
  readonly life = new Life();
  readonly payments: LocalPayments;
  private readonly store: PaymentStore;
  private readonly settlement: PaymentSettlement;
  private readonly rail: Rail;

  constructor({ database, books, areBooksThere, railOf }: ProcessDependencies) {
    this.store = crashing(new PaymentStore(database), this.life);
    const reachable = crashing(sometimesAway(books, areBooksThere), this.life);
    this.rail = railOf(this.life, this.store);
    const rails = [this.rail];
    const { store } = this;
    this.settlement = new PaymentSettlement({ store, books: reachable, rails, logger, leaseMs: MINUTE_MS });
    this.payments = new LocalPayments({
      waitMs: 0,
      rails,
      store,
      settlement: this.settlement,
      watch: new PaymentWatch({ store, rails }),
      operatorActions: new OperatorActions({
        records: new PaymentListStore(database, RAILS),
        store,
        settlement: this.settlement,
      }),
      audit: new PaymentsAudit({ rails, store: new PaymentAuditStore(database), books, log: logger.log }),
      log: logger.log,
    });
  }

  /** One round of a process's background work. Failures are left for the next round. */
  async goOn(): Promise<void> {
    const ids = await this.store.left(this.rail.network, AT_ONCE).catch(() => []);
    for (const id of ids) await this.settlement.advance(id).catch(() => undefined);
    await this.settlement.watch(this.rail).catch(() => undefined);
  }
}

function sometimesAway(books: Books, areThere: () => boolean): Books {
  return new Proxy(books, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown =>
        areThere()
          ? (member as (...all: unknown[]) => unknown).apply(target, given)
          : Promise.reject(new Problem('UNAVAILABLE'));
    },
  });
}
