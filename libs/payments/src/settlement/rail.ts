import type { PaymentRail, PaymentRailName } from '@svc/contracts';
import type { Chain } from '../chains/chain.js';
import type { PaymentContent, SignedPayment } from '../header/payment-header.js';
import type { Payment } from '../records/payment.store.js';

/** Submits a payment to the chain. */
export abstract class Submission {
  /** Resolves when it may be on its way: its transaction is noted before it is sent, where it is known. */
  abstract submit(payment: Payment): Promise<void>;
}

/** A way to pay: the chain that is believed, who submits to it, and what clients send and are told. */
export interface Rail {
  readonly name: PaymentRailName;
  readonly network: string;
  /** The address that is paid to. */
  readonly payTo: string;
  readonly chain: Chain;
  readonly submission: Submission;
  /** What clients are told. Throws ChainAway where that can not be told at the moment. */
  offer(): Promise<PaymentRail>;
  /** Reads what a client sends. Refuses with the codes of a faulty payment; throws ChainAway. */
  read(content: PaymentContent): Promise<SignedPayment>;
}
