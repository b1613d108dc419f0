import type { Books, PaymentDecision } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { usdNumber } from '@svc/contracts/money';
import type { RootLogger } from '@svc/runtime';
import { payments } from '@svc/telemetry';
import { ChainAway, type PaymentStatus } from '../chains/chain.js';
import { type Payment, type PaymentStore, creditReference } from '../records/payment.store.js';
import type { Rail } from './rail.js';

/** Credited payments checked per round. */
const WATCHED_AT_ONCE = 20;

const NANO_PER_UNIT = 1_000n;

interface SettlementParts {
  readonly store: PaymentStore;
  readonly books: Books;
  readonly rails: readonly Rail[];
  readonly logger: RootLogger;
  /** After this time another process may continue the payment of a dead one. */
  readonly leaseMs: number;
}

/** Advances payments to their end, step by step, according to the chain. */
export class PaymentSettlement {
  private readonly store: PaymentStore;

  constructor(private readonly parts: SettlementParts) {
    ({ store: this.store } = parts);
  }

  /**
   * Advances a payment as far as possible now. Does nothing if another process is doing so. Throws ChainAway.
   */
  async advance(id: string): Promise<void> {
    const payment = await this.store.lease(id, this.parts.leaseMs);
    if (!payment) return;
    try {
      const rail = this.railOf(payment);
      if (payment.state === 'CONFIRMED') await this.credit(payment, rail);
      else await this.take(await this.afterReversal(payment, rail), rail);
    } finally {
      await this.store.release(id);
    }
  }

  /**
   * Checks whether the chain still has credited payments, and reverses the credits of those it lost. Throws
   * ChainAway.
   */
  async watch({ network, chain }: Rail): Promise<void> {
    if (!chain.mayReplace) return;
    for (const payment of await this.store.toWatch(network, WATCHED_AT_ONCE))
      try {
        await this.recheck(payment);
      } catch (error) {
        if (!(error instanceof ChainAway)) throw error;
        // Throws if the node is down. If it fails only for this payment, the others continue.
        await chain.head();
      }
  }

  /** The same for one credited payment. */
  async recheck(payment: Payment): Promise<void> {
    const finality = await this.railOf(payment).chain.finalityOf(payment);
    switch (finality.kind) {
      case 'there':
        await this.store.watched(payment.id);
        return;
      case 'moved':
        await this.store.watched(payment.id, finality.to);
        return;
      case 'unclear':
        return;
      case 'gone':
        this.parts.logger.log.error(
          { paymentId: payment.id, transaction: payment.transaction, accountId: payment.accountId },
          'a credited payment has disappeared from its chain; its credit will be reversed',
        );
        await this.store.vanished(payment.id);
        await this.advance(payment.id);
    }
  }

  /**
   * Ends a payment as the operator decides, unless the chain contradicts. Throws: PAYMENT_DECISION_REFUSED,
   * ChainAway.
   */
  async decide(id: string, decision: PaymentDecision): Promise<void> {
    await this.store.reopen(id);
    const payment = await this.store.lease(id, this.parts.leaseMs);
    if (!payment)
      throw refused('The payment has already ended, or a process is working on it at this moment.');
    try {
      const rail = this.railOf(payment);
      const status =
        decision.decision === 'credit'
          ? await rail.chain.statusBy(payment, decision.transaction)
          : await rail.chain.statusOf(payment);
      if (decision.decision === 'credit' && status.kind !== 'paid') throw refused(explain(status));
      if (decision.decision === 'fail' && status.kind !== 'never' && status.kind !== 'unknown')
        throw refused(explain(status));
      await this.store.decided(id, decision.decision, decision.reason);
      if (status.kind === 'unknown') await this.end(payment, 'FAILED', status.reason);
      else await this.settle(payment, status, rail);
    } finally {
      await this.store.release(id);
    }
  }

  private railOf({ authorization: { network } }: Payment): Rail {
    const rail = this.parts.rails.find((each) => each.network === network);
    if (!rail) throw new ChainAway(`${network} is not set up`);
    return rail;
  }

  /** Reverses the credit if that is due. The books do so once. */
  private async afterReversal(payment: Payment, { name }: Rail): Promise<Payment> {
    if (payment.state !== 'REVERSING') return payment;
    const { id, accountId } = payment;
    await this.parts.books.reverse({ accountId, reference: creditReference(payment), rail: name });
    await this.store.reversed(id);
    payments.reversed.add(1, name);
    return { ...payment, state: 'REVERSED', reversals: payment.reversals + 1 };
  }

  private async take(payment: Payment, rail: Rail): Promise<void> {
    await this.settle(payment, await rail.chain.statusOf(payment), rail);
  }

  private async settle(payment: Payment, status: PaymentStatus, rail: Rail): Promise<void> {
    if (payment.state === 'UNKNOWN' && status.kind !== 'unknown') await this.store.reopen(payment.id);
    switch (status.kind) {
      case 'paid':
        await this.store.confirm(payment.id, status);
        await this.credit({ ...payment, settledUnits: status.units }, rail);
        return;
      case 'unconfirmed':
        return;
      case 'unspent':
        await rail.submission.submit(payment);
        return;
      case 'never':
        await this.end(payment, 'FAILED', status.reason);
        return;
      case 'unknown':
        if (payment.state === 'UNKNOWN') return;
        this.parts.logger.log.error(
          { paymentId: payment.id, reason: status.reason },
          'the state of a payment on the chain is unknown; it will be checked again',
        );
        await this.store.undecided(payment.id, status.reason);
    }
  }

  /** The ledger credits a payment once, however often this is called. */
  private async credit(payment: Payment, rail: Rail): Promise<void> {
    const { accountId, settledUnits = 0n } = payment;
    const usdNano = settledUnits * NANO_PER_UNIT;
    await this.parts.books.credit({
      accountId,
      usdNano,
      reference: creditReference(payment),
      rail: rail.name,
    });
    await this.end(payment, 'CREDITED');
    payments.credited.add(usdNumber(usdNano), rail.name);
  }

  private async end(payment: Payment, state: 'CREDITED' | 'FAILED', reason?: string): Promise<void> {
    await this.store.end(payment.id, state, reason);
    payments.ended.add(1, this.railOf(payment).name, state);
  }
}

const refused = (why: string): Problem => new Problem('PAYMENT_DECISION_REFUSED', { message: why });

/** The payment status, worded for an operator. */
function explain(status: PaymentStatus): string {
  switch (status.kind) {
    case 'paid':
      return `The payment was made by transaction ${status.transaction}. Retry it.`;
    case 'unconfirmed':
      return 'The payment is on the chain but has too few confirmations.';
    case 'unspent':
      return 'The payment can still be made until its authorization expires.';
    case 'never':
    case 'unknown':
      return `According to the chain, ${status.reason}.`;
  }
}
