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
  Problem,
  type SignedText,
} from '@svc/contracts';
import type { Logger } from '@svc/runtime';
import type { PaymentsAudit } from './audit/payments-audit.js';
import type { BaseChain } from './chains/base-chain.js';
import { ChainAway } from './chains/chain.js';
import { type SignedPayment, paymentKey, readPayment } from './header/payment-header.js';
import type { PaymentDesk } from './operator/payment-desk.js';
import type { Payment, PaymentStore } from './records/payment.store.js';
import type { PaymentWatch } from './settlement/payment-watch.js';
import type { Rail } from './settlement/rail.js';
import type { Settlement } from './settlement/settlement.js';

/** How often a payment that a client waits for is looked at, and how often those that nobody waits for are. */
const LOOK_MS = 500;
const LEFT_MS = 3_000;

/** Payments of a rail that go on by themselves at the same time: one that the node keeps waiting holds up no other. */
const LEFT_AT_ONCE = 20;

/** Signatures that the chain is asked about at once: whoever likes can send a wrong one. */
const ASKED_AT_ONCE = 20;

/** When who waits for a payment should ask again. */
const RETRY_SECONDS = 5;

export interface PaymentParts {
  readonly waitMs: number;
  /** At least one. */
  readonly rails: readonly Rail[];
  /** The chain with wallets that are contracts, where it is set up. */
  readonly base: BaseChain | undefined;
  readonly store: PaymentStore;
  readonly settlement: Settlement;
  readonly watch: PaymentWatch;
  readonly desk: PaymentDesk;
  readonly audit: PaymentsAudit;
  readonly log: Logger;
}

/** A payment that is kept, and whether the call that brings it came before the chain could show it to others. */
interface KnownPayment {
  readonly payment: Payment;
  readonly isFromPayer: boolean;
}

/** The payments within their own process. Goes on, by itself, with whatever was left half done. */
export class LocalPayments extends Payments implements OnModuleInit, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private going: Promise<unknown> | undefined;
  private asking = 0;

  constructor(private readonly parts: PaymentParts) {
    super();
  }

  onModuleInit(): void {
    void this.auditOn(); // It never rejects, and a stop does not wait for it.
    this.going = Promise.all(this.parts.rails.flatMap((rail) => [this.goOn(rail), this.watchOn(rail)]));
    this.parts.watch.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all([this.going, this.parts.watch.stop()]);
  }

  /** Those that can be told: a facilitator that is away takes its own rail with it, and no other. */
  override async rails(): Promise<readonly PaymentRail[]> {
    const told = await Promise.allSettled(this.parts.rails.map((rail) => rail.offer()));
    const offers = told.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const [first] = told;
    if (offers.length === 0 && first?.status === 'rejected') throw refusalOf(first.reason);
    return offers;
  }

  override async topUp(header: string): Promise<PaymentOutcome> {
    const content = readPayment(header);
    const rail = this.railOf(content.terms.network);
    try {
      const authorization = await rail.read(content);
      const payment = await stored(this.parts.store.find(paymentKey(authorization)));
      const known = payment ? { payment, isFromPayer: false } : await this.receive(authorization, rail);
      checkSame(known.payment, authorization);
      return await this.outcomeOf(known);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  override async hasSigned(signed: SignedText): Promise<boolean> {
    const { base } = this.parts;
    if (!base) throw new Problem('X402_NOT_CONFIGURED');
    if (this.asking >= ASKED_AT_ONCE) throw new Problem('UNAVAILABLE');
    this.asking += 1;
    try {
      return await base.hasSigned(signed);
    } catch (error) {
      throw refusalOf(error);
    } finally {
      this.asking -= 1;
    }
  }

  override list(wanted: PaymentsWanted): Promise<readonly PaymentRecord[]> {
    return this.parts.desk.list(wanted);
  }

  override get(id: string): Promise<PaymentRecord> {
    return this.parts.desk.get(id);
  }

  override totals(): Promise<readonly PaymentTotals[]> {
    return this.parts.desk.totals();
  }

  override retry(id: string): Promise<PaymentRecord> {
    return this.parts.desk.retry(id);
  }

  override resolve(id: string, decision: PaymentDecision): Promise<PaymentRecord> {
    return this.parts.desk.resolve(id, decision);
  }

  override async audit(scope: AuditScope): Promise<PaymentsAuditReport> {
    try {
      return await this.parts.audit.run(scope);
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw error instanceof ChainAway ? refusalOf(error) : new Problem('UNAVAILABLE', { cause: error });
    }
  }

  /** By its name in CAIP-2, or the one it had before. */
  private railOf(network: string | undefined): Rail {
    const rail = this.parts.rails.find((each) => network === each.network || network === each.name);
    if (!rail) throw new Problem('UNSUPPORTED_NETWORK');
    return rail;
  }

  /** Keeps a payment that could be settled. What could not is refused, and leaves nothing. */
  private async receive(authorization: SignedPayment, { chain }: Rail): Promise<KnownPayment> {
    const seenBlock = await chain.head();
    const trial = await chain.try(authorization, seenBlock);
    if (typeof trial === 'object') {
      // It can fail because it has been settled just now: whoever did has kept it before.
      const known = await stored(this.parts.store.find(paymentKey(authorization)));
      if (known) return { payment: known, isFromPayer: false };
      throw new Problem('PAYMENT_VERIFICATION_FAILED', {
        message: `The payment cannot be settled: ${trial.bad}`,
      });
    }
    const payment = await stored(this.parts.store.receive(authorization, seenBlock));
    return { payment, isFromPayer: trial === 'good' };
  }

  /** Goes on with a payment until it ends, or as long as is waited for it. */
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
      // Those that go on at this moment are leased, and not among what is left.
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
      // A node or books that are away are asked again the next time.
      if (!signal.aborted) await this.parts.settlement.watch(rail).catch(() => undefined);
    }
  }

  private async auditOn(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await sleep(LEFT_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.parts.audit.whenDue();
    }
  }

  /** Never rejects. What fails is logged, noted and tried again. */
  private async advance(paymentId: string): Promise<void> {
    try {
      await this.parts.settlement.advance(paymentId);
    } catch (error) {
      this.parts.log.warn(
        { paymentId, reason: String(error) },
        'a payment could not go on and will be tried again',
      );
      // What can't be noted is in the log.
      await this.parts.store.failedStep(paymentId, String(error)).catch(() => undefined);
    }
  }
}

/** Anybody can read payer and nonce on the chain: who sends them has to send what was signed. Refuses: PAYMENT_VERIFICATION_FAILED. */
function checkSame({ authorization: known }: Payment, { signature, value }: SignedPayment): void {
  const digestOf = (text: string): Buffer => hash('sha256', text.toLowerCase(), 'buffer');
  if (timingSafeEqual(digestOf(known.signature), digestOf(signature)) && known.value === value) return;
  throw new Problem('PAYMENT_VERIFICATION_FAILED', {
    message: 'A payment with this nonce was already received with a different signature or amount.',
  });
}

/** Refuses: SETTLEMENT_FAILED. Nothing while it goes on. */
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

/** A chain that can't be asked as a refusal, and anything else as it is. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof ChainAway)) return error;
  return new Problem('UNAVAILABLE', {
    message: 'The blockchain node is not responding. Send the same header again.',
    retryAfterSeconds: RETRY_SECONDS,
    cause: error,
  });
}
