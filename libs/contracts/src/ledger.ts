import type { Balances, Currency } from './money.js';
import type { Charge } from './usage.js';

export interface HoldRequest {
  /** One hold for each request. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly amountNano: bigint;
  /** An account that has less than the amount has all of it held, if that is this much; the amount itself unless told. */
  readonly atLeastNano?: bigint;
}

/** More money for a hold. */
export interface Extension {
  readonly moreNano: bigint;
  /** As for a hold; all of it unless told. */
  readonly atLeastNano?: bigint;
}

/** Money set aside for a request: DIEM first, then USD. The split is fixed, so a cost within it needs no question. */
export interface Hold {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly amount: Balances;
  /** What the account could spend just before the hold was placed. */
  readonly before: Balances;
}

/** Sets money aside before a request and charges it after. */
export abstract class Ledger {
  /** Sets money aside, or none. Refuses: INSUFFICIENT_BALANCE; UNAVAILABLE when it can't know. */
  abstract hold(request: HoldRequest): Promise<Hold>;

  /** Sets more aside and returns the grown hold. On INSUFFICIENT_BALANCE the hold stands as it was. */
  abstract extend(hold: Hold, extension: Extension): Promise<Hold>;

  /**
   * Turns a hold into a charge. Once resolved the charge is durable: it will be posted exactly once, whatever
   * dies, and what the hold had beyond the cost can be spent again. Idempotent by request id.
   * The cost is within the hold, currency by currency.
   */
  abstract settle(hold: Hold, charge: Charge): Promise<void>;

  /** Gives a hold back. Nothing is charged. A hold that is gone is no error. */
  abstract release(hold: Hold): Promise<void>;
}

export type TransferKind = 'credit' | 'charge' | 'refund' | 'grant' | 'expiry' | 'deposit' | 'write_off';

/** A movement of money between two accounts of the books. Never changed or deleted. */
export interface Transfer {
  readonly id: bigint;
  readonly kind: TransferKind;
  readonly debitAccount: string;
  readonly creditAccount: string;
  readonly currency: Currency;
  readonly amountNano: bigint;
  /** What caused it: a request id or an operator's reference. Unique with the kind and currency. */
  readonly reference: string;
  readonly at: Date;
}

export interface AuditReport {
  readonly ok: boolean;
  readonly accounts: number;
  readonly transfers: number;
  readonly charges: number;
  readonly imbalanceUsdNano: bigint;
  readonly imbalanceDiemNano: bigint;
  /** A sentence for each thing that does not add up. */
  readonly mismatches: readonly string[];
}

export interface Credit {
  readonly accountId: string;
  readonly usdNano: bigint;
  /** Chosen by the operator; the same reference credits once. */
  readonly reference: string;
}

export interface Page {
  /** At most this many, newest first. */
  readonly limit: number;
  /** Only those with a smaller id. */
  readonly before?: bigint;
}

/** The books: what was credited, what was charged, and whether it adds up. Reads include every settled charge. */
export abstract class Books {
  /** What the account has, less what it was charged. Zero for an account that has no transfers yet. */
  abstract balances(accountId: string): Promise<Balances>;

  /** Adds USD, once for each account and reference. Refuses: REFERENCE_REUSED when the amount differs. */
  abstract credit(credit: Credit): Promise<Transfer>;

  abstract transfers(accountId: string, page: Page): Promise<readonly Transfer[]>;

  /** Proves the whole book. */
  abstract audit(): Promise<AuditReport>;
}
