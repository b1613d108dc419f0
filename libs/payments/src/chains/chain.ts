import type { SignedPayment } from '../header/payment-header.js';
import type { Payment } from '../records/payment.store.js';

/** Where a payment was paid, in blocks enough. */
interface Paid {
  readonly kind: 'paid';
  readonly transaction: string;
  readonly units: bigint;
  /** Where, on a chain that may replace its last blocks. */
  readonly block?: bigint;
  readonly blockHash?: string;
}

/** What the chain says of a payment. It alone is believed. */
export type ChainWord =
  | Paid
  /** Spent, and not in enough blocks yet. */
  | { readonly kind: 'young' }
  | { readonly kind: 'unspent' }
  | { readonly kind: 'never'; readonly reason: string }
  /** Spent, and nobody knows where. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Whether the chain still has what was credited. */
export type Standing =
  | { readonly kind: 'there' }
  /** In another block than before. */
  | { readonly kind: 'moved'; readonly to: Paid }
  /** For certain: other blocks, as many as were waited for, are in the place of its own. */
  | { readonly kind: 'gone' }
  /** Not to be told yet. */
  | { readonly kind: 'unclear' };

/** Money that has arrived at an address. */
export interface Arrival {
  readonly transaction: string;
  readonly payer: string;
  readonly units: bigint;
  readonly block: bigint;
}

export interface Blocks {
  readonly from: bigint;
  readonly to: bigint;
}

/** Whether a payment could be settled at this moment. */
export type Trial = 'good' | 'spent' | { readonly bad: string };

/** The node could not be asked, or does not know. */
export class ChainAway extends Error {
  override readonly name = 'ChainAway';
}

/** A chain that payments are settled on, as a node of it tells. What can't be asked throws ChainAway. */
export abstract class Chain {
  /** The number of the last block. */
  abstract head(): Promise<bigint>;

  /**
   * Whether a payment could be settled now, found out without settling it. It is `spent` where it has been settled already, or
   * that is too young to tell.
   */
  abstract try(authorization: SignedPayment, seenBlock: bigint): Promise<Trial>;

  /** What has become of a payment. */
  abstract wordOf(payment: Payment): Promise<ChainWord>;

  /** Whether a block that has a credited payment may be replaced by another. */
  readonly mayReplace: boolean = false;

  /** What it can list of what has arrived. A chain that can't is asked payment by payment. */
  readonly statement: Statement | undefined = undefined;

  /** Whether one transaction has paid a payment. */
  wordIn(payment: Payment, _transaction: string): Promise<ChainWord> {
    return this.wordOf(payment);
  }

  /** Whether a payment that is credited still stands; always, on a chain that replaces no block. */
  standingOf(_payment: Payment): Promise<Standing> {
    return Promise.resolve({ kind: 'there' });
  }
}

/** What has arrived on a chain. */
export interface Statement {
  /** How many blocks `arrivals` takes, and how far before a payment came it may have been settled by others. */
  readonly blocksAtOnce: bigint;

  /** The last block that is old enough for what is in it to be credited. */
  lastSure(): Promise<bigint>;

  /** What has arrived at an address in these blocks, at most `blocksAtOnce` of them. */
  arrivals(payTo: string, blocks: Blocks): Promise<readonly Arrival[]>;
}
