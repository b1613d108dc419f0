import type { AuditScope, PaymentRailName } from './ledger.js';

/**
 * - RECEIVED: good, and nothing is done yet; SETTLING: somebody is to submit it
 * - BROADCAST: its transaction is known, and may be on its way
 * - CONFIRMED: the money has arrived; CREDITED: the wallet has it
 * - REVERSING: the chain no longer has it, and its credit is to be taken back; REVERSED: that is done, and it goes on
 * - FAILED: it is certain that it never will; UNKNOWN: spent, the chain does not show by what, and is asked again
 */
export const PAYMENT_STATES = [
  'RECEIVED',
  'SETTLING',
  'BROADCAST',
  'CONFIRMED',
  'CREDITED',
  'REVERSING',
  'REVERSED',
  'FAILED',
  'UNKNOWN',
] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** A payment as an operator sees it. */
export interface PaymentRecord {
  /** Grows from payment to payment. */
  readonly number: bigint;
  readonly id: string;
  readonly state: PaymentState;
  readonly rail: PaymentRailName;
  readonly wallet: string;
  readonly accountId: string;
  readonly payTo: string;
  /** What was signed for. */
  readonly usdNano: bigint;
  /** Where it is on the chain, or may be. */
  readonly transaction?: string;
  /** Steps that were begun. */
  readonly attempts: number;
  /** How often its credit was taken back. */
  readonly reversals: number;
  readonly reason?: string;
  readonly lastError?: string;
  readonly resolution?: PaymentDecision['decision'];
  readonly resolutionReason?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface PaymentsWanted {
  readonly state?: PaymentState;
  readonly rail?: PaymentRailName;
  readonly wallet?: string;
  /** At most this many, newest first. */
  readonly limit: number;
  /** Only those with a smaller number. */
  readonly before?: bigint;
}

/** The payments of a rail in one state. */
export interface PaymentTotals {
  readonly rail: PaymentRailName;
  readonly state: PaymentState;
  readonly payments: number;
  readonly usdNano: bigint;
  /** When the one came that has waited longest. */
  readonly oldest: Date;
}

/** What an operator says of a payment that can't go on by itself. */
export type PaymentDecision = { readonly reason: string } & (
  | {
      readonly decision: 'credit';
      /** Where on the chain it was paid. */
      readonly transaction: string;
    }
  | { readonly decision: 'fail' }
);

/** What an audit found of a rail. */
export interface RailAudit {
  readonly rail: PaymentRailName;
  /** The blocks that were looked at. */
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Payments that are credited, and deposits and reversals of the books. */
  readonly payments: number;
  readonly transfers: number;
  /** What is credited, what has arrived for it on the chain, and what the books have of it. */
  readonly creditedNano: bigint;
  readonly onChainNano: bigint;
  readonly booksNano: bigint;
  /** What has arrived and belongs to no payment. It is nobody's credit, and no fault of the books. */
  readonly unclaimed: number;
  readonly unclaimedNano: bigint;
}

export interface PaymentsAuditReport {
  readonly ok: boolean;
  readonly scope: AuditScope;
  readonly rails: readonly RailAudit[];
  /** A sentence for each thing that does not add up. */
  readonly mismatches: readonly string[];
  /** Transfers on the chain that belong to no payment: some of them. */
  readonly unclaimed: readonly string[];
}

/** How money reaches the platform from a chain: where to, in what, and what clients are told beside. */
export interface PaymentRail {
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  readonly extra: Readonly<Record<string, string>>;
}

/** A payment whose money has arrived and is credited. */
export interface CreditedPayment {
  readonly state: 'credited';
  readonly paymentId: string;
  readonly wallet: string;
  readonly accountId: string;
  readonly usdNano: bigint;
  readonly network: string;
  /** Where it is on the chain. */
  readonly transaction: string;
  /** Whether this call brought the payment before the chain had it. Later anybody can read its header from the chain. */
  readonly isFromPayer?: boolean;
}

/** A payment of which it is not known yet what becomes of it. The same header is to be sent again. */
export interface OpenPayment {
  readonly state: 'open';
  readonly paymentId: string;
  readonly retryAfterSeconds: number;
}

export type PaymentOutcome = CreditedPayment | OpenPayment;

/** A text and what a wallet is said to have made of it. */
export interface SignedText {
  /** An address on Base. */
  readonly wallet: string;
  readonly text: string;
  readonly signature: string;
}

/** Sells credit for USDC. What is credited is what has arrived on the chain, once, whatever dies or is asked twice. */
export abstract class Payments {
  /** The ways to pay. Refuses: X402_NOT_CONFIGURED, naming what is to be set. */
  abstract rails(): Promise<readonly PaymentRail[]>;

  /**
   * Settles a payment header of x402 and credits the wallet that signed it. A payment that was seen before goes on from
   * where it is. Refuses: X402_NOT_CONFIGURED; INVALID_PAYMENT_FORMAT and the other codes of a faulty payment, none of
   * which has moved money; SETTLEMENT_FAILED when it is certain that it never will; UNAVAILABLE.
   */
  abstract topUp(header: string): Promise<PaymentOutcome>;

  /**
   * Whether a wallet that is a contract, on the chain or not deployed yet, says that it signed a text: EIP-1271, EIP-6492.
   * Refuses: X402_NOT_CONFIGURED; UNAVAILABLE where the chain can't be asked.
   */
  abstract hasSigned(signed: SignedText): Promise<boolean>;

  /** Payments, newest first. This and what follows is the operator's. */
  abstract list(wanted: PaymentsWanted): Promise<readonly PaymentRecord[]>;

  /** Refuses: PAYMENT_NOT_FOUND. */
  abstract get(id: string): Promise<PaymentRecord>;

  /** How many there are of each rail in each state, and how much. */
  abstract totals(): Promise<readonly PaymentTotals[]>;

  /** Goes on with a payment at once, one that is FAILED or UNKNOWN too: the chain is asked anew. Refuses: PAYMENT_NOT_FOUND; UNAVAILABLE. */
  abstract retry(id: string): Promise<PaymentRecord>;

  /**
   * Ends a payment as the operator decides, where the chain does not say otherwise, and keeps why. Refuses:
   * PAYMENT_NOT_FOUND; PAYMENT_DECISION_REFUSED, saying what the chain says; UNAVAILABLE.
   */
  abstract resolve(id: string, decision: PaymentDecision): Promise<PaymentRecord>;

  /** Proves that what is credited, what has arrived on the chains and what the books have are the same, row by row. Refuses: UNAVAILABLE. */
  abstract audit(scope: AuditScope): Promise<PaymentsAuditReport>;
}
