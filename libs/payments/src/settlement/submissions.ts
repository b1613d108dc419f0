import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { BaseChain } from '../chains/base-chain.js';
import type { Facilitator } from '../facilitator/facilitator.js';
import type { Authorization } from '../header/payment-header.js';
import type { Payment, PaymentStore } from '../records/payment.store.js';
import { Submission } from './rail.js';

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
    await this.store.alone(signer.address, async () => {
      const { raw, hash } = await this.chain.prepare(authorization, signer, open);
      await this.store.broadcast(id, hash, raw);
      await this.chain.send(raw);
    });
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
