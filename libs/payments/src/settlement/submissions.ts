import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { BaseChain } from '../chains/base-chain.js';
import type { Facilitator } from '../facilitator/facilitator.js';
import type { Authorization } from '../header/payment-header.js';
import type { Payment, PaymentStore } from '../records/payment.store.js';
import { Submission } from './rail.js';

/** What is noted of a payment that goes on after its transaction was reverted. */
const REVERTED = 'the chain has reverted ';

/** Submits payments by a signer of our own, which pays for their gas. */
export class OwnSubmission extends Submission {
  constructor(
    private readonly chain: BaseChain,
    private readonly store: PaymentStore,
    private readonly own: { readonly signer: PrivateKeyAccount; readonly stuckMs: number },
  ) {
    super();
  }

  /**
   * One transaction of the signer after the other, over all processes: two at once would take the same nonce. One that is
   * stuck is replaced for a higher fee, under the same nonce or the least that is missing before it.
   */
  override async submit(payment: Payment<Authorization>): Promise<void> {
    const { id, authorization, broadcastAt } = payment;
    const { signer, stuckMs } = this.own;
    const rawTransaction = payment.rawTransaction as Hex | undefined;
    const open =
      rawTransaction && (await this.chain.isOpen(rawTransaction, signer.address))
        ? rawTransaction
        : undefined;
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

  /**
   * Two transactions that were reverted are enough, since each has cost gas: a wallet that is a contract can say yes until it
   * is asked in a block. The payment fails when its authorization has expired, unless somebody else settles it.
   */
  private async isGivenUp({ id, transaction, reason }: Payment): Promise<boolean> {
    if (transaction === undefined || !(await this.chain.isReverted(transaction))) return false;
    const note = `${REVERTED}${transaction}`;
    if (reason?.startsWith(REVERTED) && reason !== note) return true;
    await this.store.noted(id, note);
    return false;
  }
}

/** Has payments submitted by a facilitator, which pays for their gas. */
export class FacilitatorSubmission extends Submission {
  constructor(
    private readonly facilitator: Facilitator,
    private readonly store: PaymentStore,
  ) {
    super();
  }

  /** Asks once it has named a transaction no more: where that is a lie, the authorization expires. */
  override async submit({ id, authorization, transaction: named, rawTransaction }: Payment): Promise<void> {
    if (named !== undefined) return;
    const transaction = await this.facilitator.settle(authorization);
    if (transaction !== undefined) await this.store.broadcast(id, transaction, rawTransaction);
  }
}
