import type { AuditScope } from './ledger.js';

/**
 * - RECEIVED: valid, and not processed yet; SETTLING: to be submitted
 * - BROADCAST: its transaction is known, and may be in flight
 * - CONFIRMED: the money has arrived; CREDITED: the wallet has been credited
 * - REVERSING: the payment vanished from the chain, and its credit is to be reversed; REVERSED: that is done,
 *   and processing continues
 * - FAILED: it will certainly never succeed; UNKNOWN: spent, but the chain does not show by what; checked
 *   again later
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

/** A payment for operators. */
export interface PaymentRecord {
  /** Increases from payment to payment. */
  readonly number: bigint;
  readonly id: string;
  readonly state: PaymentState;
  readonly rail: string;
  readonly wallet: string;
  readonly accountId: string;
  readonly payTo: string;
  /** The signed amount. */
  readonly usdNano: bigint;
  /** The transaction on the chain, or the one submitted. */
  readonly transaction?: string;
  /** The number of attempted steps. */
  readonly attempts: number;
  /** How often its credit was reversed. */
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
  readonly rail?: string;
  readonly wallet?: string;
  /** At most this many, newest first. */
  readonly limit: number;
  /** Only those with a smaller number. */
  readonly before?: bigint;
}

/** The payments of a rail in one state. */
export interface PaymentTotals {
  readonly rail: string;
  readonly state: PaymentState;
  readonly payments: number;
  readonly usdNano: bigint;
  /** When the oldest one was received. */
  readonly oldest: Date;
}

/** An operator's decision about a payment that can't continue by itself. */
export type PaymentDecision = { readonly reason: string } & (
  | {
      readonly decision: 'credit';
      /** The transaction that paid it. */
      readonly transaction: string;
    }
  | { readonly decision: 'fail' }
);

/** The audit result of a rail. */
export interface RailAudit {
  readonly rail: string;
  /** The audited range of blocks. */
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Credited payments, and deposits and reversals in the books. */
  readonly payments: number;
  readonly transfers: number;
  /** The amounts credited, received for those on the chain, and posted in the books. */
  readonly creditedNano: bigint;
  readonly onChainNano: bigint;
  readonly booksNano: bigint;
  /**
   * Transfers that arrived and belong to no payment. They credit no account, and are not a fault of the
   * books.
   */
  readonly unclaimed: number;
  readonly unclaimedNano: bigint;
}

export interface PaymentsAuditReport {
  readonly ok: boolean;
  readonly scope: AuditScope;
  readonly rails: readonly RailAudit[];
  /** A sentence for each mismatch. */
  readonly mismatches: readonly string[];
  /** Some of the transfers on the chain that belong to no payment. */
  readonly unclaimed: readonly string[];
}

/**
 * A way for money to reach the platform from a chain: the receiver, the asset, and further data for clients.
 */
export interface PaymentRail {
  /** As in the books, in metrics and for operators. */
  readonly name: string;
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
  /** Its transaction on the chain. */
  readonly transaction: string;
  /**
   * Whether this call brought the payment before it was on the chain. Later anyone can copy its header from
   * there.
   */
  readonly isFromPayer?: boolean;
}

/** A payment whose outcome is not known yet. The client should send the same header again. */
interface OpenPayment {
  readonly state: 'open';
  readonly paymentId: string;
  readonly retryAfterSeconds: number;
}

export type PaymentOutcome = CreditedPayment | OpenPayment;

/** A transfer of USDC to the platform that a wallet is to sign. */
export interface WantedTransfer {
  /** An address on Solana. */
  readonly payer: string;
  /** A whole number of the smallest unit of USDC. */
  readonly usdNano: bigint;
}

/** A text and its alleged signature by a wallet. */
export interface SignedText {
  /** An address on Base. */
  readonly wallet: string;
  readonly text: string;
  readonly signature: string;
}

/**
 * Sells credit for USDC. Exactly what arrived on the chain is credited, once, despite crashes and retries.
 */
export abstract class Payments {
  /** The ways to pay. Rejects with X402_NOT_CONFIGURED, naming the missing settings. */
  abstract rails(): Promise<readonly PaymentRail[]>;

  /**
   * Settles an x402 payment header and credits the wallet that signed it, or the given account. A known
   * payment continues from its state, for the account that it was first received for. Rejects with
   * X402_NOT_CONFIGURED; INVALID_PAYMENT_FORMAT and the other codes of an invalid payment, none of which has
   * moved money; SETTLEMENT_FAILED if it will certainly never succeed; UNAVAILABLE.
   */
  abstract topUp(header: string, accountId?: string): Promise<PaymentOutcome>;

  /**
   * The transaction on Solana, in base64, by which a wallet pays once it has signed it; only then does it
   * move money. It is different each time. Rejects with X402_NOT_CONFIGURED; INVALID_PAYMENT_PAYER;
   * UNAVAILABLE.
   */
  abstract unsignedTransfer(wanted: WantedTransfer): Promise<string>;

  /**
   * Whether a contract wallet, deployed or not, confirms that it signed a text: EIP-1271, EIP-6492. Rejects
   * with X402_NOT_CONFIGURED; UNAVAILABLE if the chain can't be reached.
   */
  abstract hasSigned(signed: SignedText): Promise<boolean>;

  /** Payments, newest first. This and all following methods are for operators. */
  abstract list(wanted: PaymentsWanted): Promise<readonly PaymentRecord[]>;

  /** Rejects with PAYMENT_NOT_FOUND. */
  abstract get(id: string): Promise<PaymentRecord>;

  /** The number and amount of payments, by rail and state. */
  abstract totals(): Promise<readonly PaymentTotals[]>;

  /**
   * Continues a payment at once, even one that is FAILED or UNKNOWN: the chain is checked again. Rejects with
   * PAYMENT_NOT_FOUND; UNAVAILABLE.
   */
  abstract retry(id: string): Promise<PaymentRecord>;

  /**
   * Ends a payment as the operator decides, unless the chain contradicts, and records the reason. Rejects
   * with PAYMENT_NOT_FOUND; PAYMENT_DECISION_REFUSED, with what the chain shows; UNAVAILABLE.
   */
  abstract resolve(id: string, decision: PaymentDecision): Promise<PaymentRecord>;

  /**
   * Proves row by row that the credited payments, the transfers on the chains and the books agree. Rejects
   * with UNAVAILABLE.
   */
  abstract audit(scope: AuditScope): Promise<PaymentsAuditReport>;
}
