import type { SignedPayment } from '../header/payment-header.js';
import type { Payment } from '../records/payment.store.js';

/** Where a payment was paid, with enough confirmations. */
interface PaidPayment {
  readonly kind: 'paid';
  readonly transaction: string;
  readonly units: bigint;
  /** Only on a chain that may replace its last blocks. */
  readonly block?: bigint;
  readonly blockHash?: string;
}

/** The status of a payment according to the chain, the only source that is trusted. */
export type PaymentStatus =
  | PaidPayment
  /** Spent, with too few confirmations. */
  | { readonly kind: 'unconfirmed' }
  | { readonly kind: 'unspent' }
  | { readonly kind: 'never'; readonly reason: string }
  /** Spent, but it is unknown where. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** The finality of a credited payment: whether the chain still has it. */
export type Finality =
  | { readonly kind: 'there' }
  /** In a different block than before. */
  | { readonly kind: 'moved'; readonly to: PaidPayment }
  /** Certain: its block was replaced, and the replacement has enough confirmations. */
  | { readonly kind: 'gone' }
  /** Not known yet. */
  | { readonly kind: 'unclear' };

/** An incoming transfer to an address. */
export interface IncomingTransfer {
  readonly transaction: string;
  readonly payer: string;
  readonly units: bigint;
  readonly block: bigint;
}

export interface Blocks {
  readonly from: bigint;
  readonly to: bigint;
}

/** The simulation of a payment: whether it could be settled now, or `early`: with one of the next blocks. */
export type SimulationOutcome = 'good' | 'spent' | 'early' | { readonly bad: string };

/** The node failed, or does not know. */
export class ChainAway extends Error {
  override readonly name = 'ChainAway';
}

/** A chain that payments are settled on, as seen by a node. Methods throw ChainAway if the node fails. */
export abstract class Chain {
  /** The number of the last block. */
  abstract head(): Promise<bigint>;

  /** When the last block was made, as Unix time in seconds. */
  abstract headTime(): Promise<number>;

  /**
   * Simulates the settlement of a payment. The result is `spent` if it has been settled already, including
   * when that is still unconfirmed.
   */
  abstract simulate(authorization: SignedPayment, seenBlock: bigint): Promise<SimulationOutcome>;

  /** The status of a payment. */
  abstract statusOf(payment: Payment): Promise<PaymentStatus>;

  /** Whether a block with a credited payment may still be replaced. */
  readonly mayReplace: boolean = false;

  /** Lists incoming transfers. A chain that can't is queried payment by payment. */
  readonly statement: Statement | undefined = undefined;

  /** The status of a payment, by the given transaction. */
  statusBy(payment: Payment, _transaction: string): Promise<PaymentStatus> {
    return this.statusOf(payment);
  }

  /** The finality of a credited payment; always there on a chain that replaces no blocks. */
  finalityOf(_payment: Payment): Promise<Finality> {
    return Promise.resolve({ kind: 'there' });
  }
}

/** The incoming transfers of a chain. */
export interface Statement {
  /**
   * The maximum range of `incomingTransfers`. Also how many blocks before its payment an authorization may
   * have been settled by others.
   */
  readonly blocksAtOnce: bigint;

  /** The last block old enough for its transfers to be credited. */
  lastSure(): Promise<bigint>;

  /** Incoming transfers of an address in these blocks, at most `blocksAtOnce`. */
  incomingTransfers(payTo: string, blocks: Blocks): Promise<readonly IncomingTransfer[]>;
}
