import type { PaymentDecision, PaymentRecord, PaymentTotals, PaymentsWanted } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { ChainAway } from '../chains/chain.js';
import type { PaymentListStore } from '../records/payment-list.store.js';
import type { PaymentStore } from '../records/payment.store.js';
import type { PaymentSettlement } from '../settlement/settlement.js';

interface OperatorActionsParts {
  readonly records: PaymentListStore;
  readonly store: PaymentStore;
  readonly settlement: PaymentSettlement;
}

/** Operator actions on payments. Rejects: UNAVAILABLE if database or chain can't be reached. */
export class OperatorActions {
  constructor(private readonly parts: OperatorActionsParts) {}

  list(wanted: PaymentsWanted): Promise<readonly PaymentRecord[]> {
    return orUnavailable(this.parts.records.list(wanted));
  }

  totals(): Promise<readonly PaymentTotals[]> {
    return orUnavailable(this.parts.records.totals());
  }

  /** Rejects: PAYMENT_NOT_FOUND. */
  async get(id: string): Promise<PaymentRecord> {
    const record = await orUnavailable(this.parts.records.get(id));
    if (!record) throw new Problem('PAYMENT_NOT_FOUND', { param: 'id' });
    return record;
  }

  /** Advances a payment at once; for a credited one, checks whether the chain still has it. */
  async retry(id: string): Promise<PaymentRecord> {
    const { store, settlement } = this.parts;
    await this.get(id);
    await orUnavailable(store.reopen(id));
    const payment = await orUnavailable(store.get(id));
    await orUnavailable(payment?.state === 'CREDITED' ? settlement.recheck(payment) : settlement.advance(id));
    return this.get(id);
  }

  async resolve(id: string, decision: PaymentDecision): Promise<PaymentRecord> {
    const { state } = await this.get(id);
    if (state === 'CREDITED')
      throw new Problem('PAYMENT_DECISION_REFUSED', { message: 'The payment is already credited.' });
    await orUnavailable(this.parts.settlement.decide(id, decision));
    return this.get(id);
  }
}

async function orUnavailable<Value>(result: Promise<Value>): Promise<Value> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Problem) throw error;
    const message = error instanceof ChainAway ? 'The blockchain node is not responding.' : undefined;
    throw new Problem('UNAVAILABLE', { ...(message !== undefined && { message }), cause: error });
  }
}
