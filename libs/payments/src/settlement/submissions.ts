import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { EvmChain } from '../chains/evm-chain.js';
import type { Facilitator } from '../facilitator/facilitator.js';
import type { Authorization } from '../header/payment-header.js';
import type { Payment, PaymentStore } from '../records/payment.store.js';
import { Submission } from './rail.js';

/** Prefix of the reason recorded after a payment's transaction was reverted. */
const REVERTED = 'the chain has reverted ';

/** Submits payments with a signer of our own, which pays the gas. */
export class OwnSubmission extends Submission {
  constructor(
    private readonly chain: EvmChain,
    private readonly store: PaymentStore,
    private readonly own: { readonly signer: PrivateKeyAccount; readonly stuckMs: number },
  ) {
    super();
  }

  /**
   * One transaction of the signer at a time, across all processes: two at once would use the same nonce. A
   * stuck one is replaced with a higher fee, under its own nonce or the lowest missing one before it.
   */
  override async submit(payment: Payment<Authorization>): Promise<void> {
    const { id, authorization, broadcastAt } = payment;
    const { signer, stuckMs } = this.own;
    const rawTransaction = payment.rawTransaction as Hex | undefined;
    const open = rawTransaction && (await this.chain.isOpen(rawTransaction)) ? rawTransaction : undefined;
    const isStuck = Date.now() - (broadcastAt?.getTime() ?? 0) > stuckMs;
    if (open) await this.chain.send(open);
    if (open && !isStuck) return;
    if (!open && (await this.isGivenUp(payment))) return;
    await this.store.alone(signer.address, async () => {
      const { raw, hash } = await this.chain.prepare(authorization, signer, open);
      await this.store.broadcast(id, hash, raw);
      await this.chain.send(raw);
    });
  }

  override affordable(): Promise<number> {
    return this.chain.affordableBy(this.own.signer.address);
  }

  /**
   * Gives up after two reverted transactions, since each has cost gas: a contract wallet may accept a payment
   * in simulations but not in a block. The payment fails when its authorization expires, unless someone else
   * settles it.
   */
  private async isGivenUp({ id, transaction, reason }: Payment): Promise<boolean> {
    if (transaction === undefined || !(await this.chain.isReverted(transaction))) return false;
    const note = `${REVERTED}${transaction}`;
    if (reason?.startsWith(REVERTED) && reason !== note) return true;
    await this.store.noted(id, note);
    return false;
  }
}

/** Submits payments through a facilitator, which pays the gas. */
export class FacilitatorSubmission extends Submission {
  constructor(
    private readonly facilitator: Facilitator,
    private readonly store: PaymentStore,
  ) {
    super();
  }

  /**
   * Once the facilitator has named a transaction, it is not called again; if that was a lie, the
   * authorization expires.
   */
  override async submit({ id, authorization, transaction: named, rawTransaction }: Payment): Promise<void> {
    if (named !== undefined) return;
    const transaction = await this.facilitator.settle(authorization);
    if (transaction !== undefined) await this.store.broadcast(id, transaction, rawTransaction);
  }
}
