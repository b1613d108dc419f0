import type { SolanaTransfer } from '../header/payment-header.js';
import type { Payment, PaymentStore } from '../records/payment.store.js';
import { Submission } from '../settlement/rail.js';
import type { FeePayer } from './fee-payer.js';
import type { SolanaChain } from './solana-chain.js';
import { decodeWire } from './transfer-wire.js';

/** Submits payments on Solana, signing and paying the fees with our own account. */
export class OwnSolanaSubmission extends Submission {
  constructor(
    private readonly chain: SolanaChain,
    private readonly store: PaymentStore,
    private readonly feePayer: FeePayer,
  ) {
    super();
  }

  override affordable(): Promise<number> {
    return this.chain.affordableBy(this.feePayer.address);
  }

  /** Always the same transaction, so it can be sent any number of times. */
  override async submit({ id, authorization, transaction }: Payment<SolanaTransfer>): Promise<void> {
    const transfer = decodeWire(authorization.wire);
    // The fee payer may have been rotated since the payment came; then the payment waits until it expires.
    const feePayer = transfer && this.feePayer.at(transfer.compiled.staticAccounts[0]);
    if (!feePayer) return;
    const { signature, wire } = feePayer.cosign(transfer);
    if (transaction === undefined) await this.store.broadcast(id, signature, wire);
    await this.chain.send(wire);
  }
}
