import type { PaymentRail, SignedText, WantedTransfer } from '@svc/contracts/ports';
import type { Chain } from '../chains/chain.js';
import type { PaymentContent, SignedPayment } from '../header/payment-header.js';
import type { Payment } from '../records/payment.store.js';

/** Submits a payment to the chain. */
export abstract class Submission {
  /** Resolves when the payment may be under way. Its transaction, if known, is recorded before it is sent. */
  abstract submit(payment: Payment): Promise<void>;

  /** How many payments our own signer can still pay the fees of; undefined if somebody else pays them. */
  affordable(): Promise<number | undefined> {
    return Promise.resolve(undefined);
  }
}

/** A way to pay: its trusted chain, its submission, and the messages exchanged with clients. */
export interface Rail {
  readonly name: string;
  readonly network: string;
  /** The receiving address. */
  readonly payTo: string;
  readonly chain: Chain;
  readonly submission: Submission;
  /** The terms offered to clients. Throws ChainAway if they are not available now. */
  offer(): Promise<PaymentRail>;
  /** Reads a client's payment. Rejects with the codes of a faulty payment, or with ChainAway. */
  read(content: PaymentContent): Promise<SignedPayment>;
  /**
   * A payment that only needs the payer's signature, for wallets that have no node of their own to ask for
   * what it contains. Rejects with INVALID_PAYMENT_PAYER, or with ChainAway.
   */
  readonly unsigned?: (wanted: WantedTransfer) => Promise<string>;
  /**
   * Whether a contract wallet confirms that it signed a text. Only one rail can: the contract at an address
   * may belong to somebody else on another chain.
   */
  readonly hasSigned?: (signed: SignedText) => Promise<boolean>;
}
