import { hash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  type AuditScope,
  type CreditedPayment,
  type PaymentDecision,
  type PaymentOutcome,
  type PaymentRail,
  type PaymentRecord,
  type PaymentTotals,
  Payments,
  type PaymentsAuditReport,
  type PaymentsWanted,
  type SignedText,
  type WantedTransfer,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { Logger } from '@svc/runtime';
import type { PaymentsAudit } from './audit/payments-audit.js';
import { ChainAway, type SimulationOutcome } from './chains/chain.js';
import { type SignedPayment, paymentKey, readPayment } from './header/payment-header.js';
import type { OperatorActions } from './operator/operator-actions.js';
import type { Payment, PaymentStore } from './records/payment.store.js';
import type { PaymentWatch } from './settlement/payment-watch.js';
import type { Rail } from './settlement/rail.js';
import type { PaymentSettlement } from './settlement/settlement.js';

/** Poll interval of a payment that a client waits for, and of all others. */
const LOOK_MS = 500;
const LEFT_MS = 3_000;

/**
 * Payments of a rail advanced in the background in parallel, so that one slow payment does not delay the
 * others.
 */
const LEFT_AT_ONCE = 20;

/** Parallel signature checks on the chain, limited because anyone can send wrong signatures. */
const SIGNATURE_CALLS_AT_ONCE = 20;

/** A clock may be a little ahead of the chain's, which has a new block every 2 s. */
const EARLY_MS = 3_000;

/** When a client waiting for a payment should retry. */
const RETRY_SECONDS = 5;

export interface PaymentParts {
  readonly waitMs: number;
  /** At least one. */
  readonly rails: readonly Rail[];
  readonly store: PaymentStore;
  readonly settlement: PaymentSettlement;
  readonly watch: PaymentWatch;
  readonly operatorActions: OperatorActions;
  readonly audit: PaymentsAudit;
  readonly log: Logger;
}

/**
 * A stored payment. `isFromPayer` is whether the call that delivered it came before others could see it on
 * the chain.
 */
interface KnownPayment {
  readonly payment: Payment;
  readonly isFromPayer: boolean;
}

/** The payments within their own process. Unfinished payments are continued in the background. */
export class LocalPayments extends Payments implements OnModuleInit, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private going: Promise<unknown> | undefined;
  private signatureCalls = 0;

  constructor(private readonly parts: PaymentParts) {
    super();
  }

  onModuleInit(): void {
    this.going = Promise.all(this.parts.rails.flatMap((rail) => [this.goOn(rail), this.watchOn(rail)]));
    this.parts.watch.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all([this.going, this.parts.watch.stop()]);
  }

  /** The available rails: a facilitator that is down affects only its own rail. */
  override async rails(): Promise<readonly PaymentRail[]> {
    const results = await Promise.allSettled(this.parts.rails.map((rail) => rail.offer()));
    const offers = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const [first] = results;
    if (offers.length === 0 && first?.status === 'rejected') throw refusalOf(first.reason);
    return offers;
  }

  override async topUp(header: string, accountId?: string): Promise<PaymentOutcome> {
    const content = readPayment(header);
    const rail = this.railOf(content.terms.network);
    try {
      const authorization = await rail.read(content);
      const payment = await stored(this.parts.store.find(paymentKey(authorization)));
      const known = payment
        ? { payment, isFromPayer: false }
        : await this.receive(authorization, { rail, accountId });
      checkSame(known.payment, authorization);
      return await this.outcomeOf(known);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  override async unsignedTransfer(wanted: WantedTransfer): Promise<string> {
    const rail = this.parts.rails.find(({ unsigned }) => unsigned);
    if (!rail?.unsigned)
      throw new Problem('X402_NOT_CONFIGURED', { message: 'This deployment takes no payments on Solana.' });
    try {
      return await rail.unsigned(wanted);
    } catch (error) {
      throw refusalOf(error, 'Retry later.');
    }
  }

  override async hasSigned(signed: SignedText): Promise<boolean> {
    const rail = this.parts.rails.find(({ hasSigned }) => hasSigned);
    if (!rail?.hasSigned) throw new Problem('X402_NOT_CONFIGURED');
    if (this.signatureCalls >= SIGNATURE_CALLS_AT_ONCE) throw new Problem('UNAVAILABLE');
    this.signatureCalls += 1;
    try {
      return await rail.hasSigned(signed);
    } catch (error) {
      throw refusalOf(error);
    } finally {
      this.signatureCalls -= 1;
    }
  }

  override list(wanted: PaymentsWanted): Promise<readonly PaymentRecord[]> {
    return this.parts.operatorActions.list(wanted);
  }

  override get(id: string): Promise<PaymentRecord> {
    return this.parts.operatorActions.get(id);
  }

  override totals(): Promise<readonly PaymentTotals[]> {
    return this.parts.operatorActions.totals();
  }

  override retry(id: string): Promise<PaymentRecord> {
    return this.parts.operatorActions.retry(id);
  }

  override resolve(id: string, decision: PaymentDecision): Promise<PaymentRecord> {
    return this.parts.operatorActions.resolve(id, decision);
  }

  override async audit(scope: AuditScope): Promise<PaymentsAuditReport> {
    try {
      return await this.parts.audit.run(scope);
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw error instanceof ChainAway ? refusalOf(error) : new Problem('UNAVAILABLE', { cause: error });
    }
  }

  /** By its CAIP-2 name, or its older name. */
  private railOf(network: string | undefined): Rail {
    const rail = this.parts.rails.find((each) => network === each.network || network === each.name);
    if (!rail) throw new Problem('UNSUPPORTED_NETWORK');
    return rail;
  }

  /** Stores a payment that could be settled. Any other is rejected and leaves nothing. */
  private async receive(
    authorization: SignedPayment,
    { rail: { chain }, accountId }: { readonly rail: Rail; readonly accountId: string | undefined },
  ): Promise<KnownPayment> {
    const seenBlock = await chain.head();
    const first = await chain.simulate(authorization, seenBlock);
    const simulation = first === 'early' ? await this.simulateLater(authorization, seenBlock, chain) : first;
    if (typeof simulation === 'object') {
      // It may fail because it was settled just now, by a call that stored it before.
      const known = await stored(this.parts.store.find(paymentKey(authorization)));
      if (known) return { payment: known, isFromPayer: false };
      throw new Problem('PAYMENT_VERIFICATION_FAILED', {
        message: `The payment cannot be settled: ${simulation.bad}`,
      });
    }
    const payment = await stored(this.parts.store.receive(authorization, seenBlock, accountId));
    return { payment, isFromPayer: simulation === 'good' };
  }

  /** Simulates a payment again after a few blocks. Throws: UNAVAILABLE, if it is still too early for it. */
  private async simulateLater(
    authorization: SignedPayment,
    seenBlock: bigint,
    chain: Rail['chain'],
  ): Promise<Exclude<SimulationOutcome, 'early'>> {
    await sleep(EARLY_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    const simulation = await chain.simulate(authorization, seenBlock);
    if (simulation !== 'early') return simulation;
    throw new Problem('UNAVAILABLE', {
      message: 'The payment is not valid yet by its validAfter. Retry with the same payment header.',
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  /** Advances a payment until it ends, or the wait is over. */
  private async outcomeOf({
    payment: { id, authorization },
    isFromPayer,
  }: KnownPayment): Promise<PaymentOutcome> {
    const { store, waitMs } = this.parts;
    const endMs = performance.now() + waitMs;
    for (;;) {
      await this.advance(id);
      const payment = await stored(store.find(paymentKey(authorization)));
      const ended = payment && endOf(payment);
      if (ended) return { ...ended, isFromPayer };
      if (performance.now() + LOOK_MS > endMs || this.stopping.signal.aborted)
        return { state: 'open', paymentId: id, retryAfterSeconds: RETRY_SECONDS };
      await sleep(LOOK_MS);
    }
  }

  private async goOn({ network }: Rail): Promise<void> {
    const { signal } = this.stopping;
    const steps = new Set<Promise<void>>();
    while (!signal.aborted) {
      await sleep(LEFT_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) break;
      // Payments being advanced right now are leased, and not among those left.
      const ids = await this.parts.store.left(network, LEFT_AT_ONCE - steps.size).catch(() => []);
      for (const id of ids) {
        const step = this.advance(id).finally(() => steps.delete(step));
        steps.add(step);
      }
    }
    await Promise.all(steps);
  }

  private async watchOn(rail: Rail): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await sleep(LEFT_MS, undefined, { signal, ref: false }).catch(() => undefined);
      // If a node or the books are down, the next round tries again.
      if (!signal.aborted) await this.parts.settlement.watch(rail).catch(() => undefined);
    }
  }

  /** Never rejects. A failure is logged, recorded and retried. */
  private async advance(paymentId: string): Promise<void> {
    try {
      await this.parts.settlement.advance(paymentId);
    } catch (error) {
      this.parts.log.warn(
        { paymentId, reason: String(error) },
        'a step of a payment failed and will be retried',
      );
      // A failure that can't be recorded is at least in the log.
      await this.parts.store.failedStep(paymentId, String(error)).catch(() => undefined);
    }
  }
}

/** The payments of a deployment without any payment settings. */
export class NoPayments extends Payments {
  constructor(private readonly missing: readonly string[]) {
    super();
  }

  override readonly rails = () => this.refuse();
  override readonly topUp = () => this.refuse();
  override readonly unsignedTransfer = () => this.refuse();
  override readonly hasSigned = () => this.refuse();
  override readonly list = () => this.refuse();
  override readonly get = () => this.refuse();
  override readonly totals = () => this.refuse();
  override readonly retry = () => this.refuse();
  override readonly resolve = () => this.refuse();
  override readonly audit = () => this.refuse();

  private refuse(): Promise<never> {
    const message = `This deployment does not sell credit: the operator must set ${this.missing.join(', ')}.`;
    return Promise.reject(new Problem('X402_NOT_CONFIGURED', { message }));
  }
}

/**
 * Payer and nonce are public on the chain, so the caller must present the same signature. Throws:
 * PAYMENT_VERIFICATION_FAILED.
 */
function checkSame({ authorization: known }: Payment, { signature, value }: SignedPayment): void {
  const digestOf = (text: string): Buffer => hash('sha256', text.toLowerCase(), 'buffer');
  if (timingSafeEqual(digestOf(known.signature), digestOf(signature)) && known.value === value) return;
  throw new Problem('PAYMENT_VERIFICATION_FAILED', {
    message: 'A payment with this nonce was already received with a different signature or amount.',
  });
}

/** Undefined while the payment is in progress. Throws: SETTLEMENT_FAILED. */
function endOf(payment: Payment): CreditedPayment | undefined {
  const { state, id: paymentId, wallet, accountId, settledUnits = 0n, transaction = '', reason } = payment;
  const { network } = payment.authorization;
  if (state === 'FAILED')
    throw new Problem('SETTLEMENT_FAILED', {
      message: `The payment was not settled: ${reason ?? 'it failed'}.`,
    });
  if (state !== 'CREDITED') return undefined;
  return {
    state: 'credited',
    paymentId,
    wallet,
    accountId,
    usdNano: settledUnits * 1_000n,
    network,
    transaction,
  };
}

async function stored<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    throw new Problem('UNAVAILABLE', { cause: error });
  }
}

/** Converts ChainAway to UNAVAILABLE, and returns any other error unchanged. */
function refusalOf(error: unknown, advice = 'Retry with the same payment header.'): unknown {
  if (!(error instanceof ChainAway)) return error;
  return new Problem('UNAVAILABLE', {
    message: `The blockchain node is not responding. ${advice}`,
    retryAfterSeconds: RETRY_SECONDS,
    cause: error,
  });
}
