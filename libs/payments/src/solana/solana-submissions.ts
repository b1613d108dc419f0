import type { SolanaTransfer } from '../header/payment-header.js';
import type { Payment, PaymentStore } from '../records/payment.store.js';
import { Submission } from '../settlement/rail.js';
import type { FeePayer } from './fee-payer.js';
import type { SolanaChain } from './solana-chain.js';
import { decodeWire } from './transfer-wire.js';

/** Submits payments on Solana with a signature of our own, and pays their fees. */
export class OwnSolanaSubmission extends Submission {
  constructor(
    private readonly chain: SolanaChain,
    private readonly store: PaymentStore,
    private readonly feePayer: FeePayer,
  ) {
    super();
  }

  /** The same transaction each time, so that it can be sent as often as is liked. */
  override async submit({ id, authorization, transaction }: Payment<SolanaTransfer>): Promise<void> {
    const transfer = decodeWire(authorization.wire);
    // Who paid the fees when the payment came may be another by now: then it waits until it has expired.
    const feePayer = transfer && this.feePayer.at(transfer.compiled.staticAccounts[0]);
    if (!feePayer) return;
    const { signature, wire } = feePayer.cosign(transfer);
    if (transaction === undefined) await this.store.broadcast(id, signature, wire);
    await this.chain.send(wire);
  }
}
