import type { Balances, Currency } from '../money/money.js';
import type { Charge } from '../messages/usage.js';

/** EPOCH is a UTC day, MONTH a UTC month, LIFETIME never starts anew. */
export const LIMIT_PERIODS = ['EPOCH', 'MONTH', 'LIFETIME'] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** What a key may spend in a period, currency by currency. A currency that is left out has no limit. */
export interface SpendingLimit {
  readonly period: LimitPeriod;
  readonly usdNano?: bigint;
  readonly diemNano?: bigint;
}

export interface HoldRequest {
  /** One hold for each request. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly amountNano: bigint;
  /** An account that has less than the amount has all of it held, if that is this much. Default: the amount. */
  readonly atLeastNano?: bigint;
  /** Held in place of the amount, where it is at most a tenth of what can be spent. */
  readonly preferredNano?: bigint;
  /** What the key may spend; what it has spent and holds counts against it. */
  readonly keyLimit?: SpendingLimit;
}

/** More money for a hold. */
export interface Extension {
  readonly moreNano: bigint;
  /** As for a hold. Default: all of it. */
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
  readonly keyLimit?: SpendingLimit;
}

/** The most holds that `renew` takes at once. */
export const HOLDS_PER_RENEWAL = 1_000;

/**
 * Sets money aside before a request and charges it after. A hold has a lease: its caller renews it while the request
 * lives, so that the holds of a caller that died lapse.
 */
export abstract class Ledger {
  /**
   * Sets money aside, or none. Refuses: INSUFFICIENT_BALANCE; API_KEY_USD_SPEND_LIMIT_EXCEEDED or
   * API_KEY_DIEM_SPEND_LIMIT_EXCEEDED when the account could pay but the key may not; UNAVAILABLE when it can't know.
   */
  abstract hold(request: HoldRequest): Promise<Hold>;

  /** What the account can spend at this moment: its balances less its holds. Refuses: UNAVAILABLE. */
  abstract available(accountId: string): Promise<Balances>;

  /** Sets more aside and returns the grown hold. When money is short (as for a hold) the hold stands as it was. */
  abstract extend(hold: Hold, extension: Extension): Promise<Hold>;

  /**
   * Starts the leases of holds anew, at most `HOLDS_PER_RENEWAL` of them. One that has lapsed is taken again where the
   * money is still there; one that is settled, released or unknown is passed over.
   */
  abstract renew(holds: readonly Hold[]): Promise<void>;

  /**
   * Turns a hold into a charge. Once resolved the charge is durable: it will be posted exactly once, whatever
   * dies, and what the hold had beyond the cost can soon be spent again. Idempotent by request id.
   * The cost is within the hold, currency by currency.
   */
  abstract settle(hold: Hold, charge: Charge): Promise<void>;

  /** Gives a hold back. Nothing is charged. A hold that is gone is no error. */
  abstract release(hold: Hold): Promise<void>;
}

/** What is set aside, as it is kept for the processes that settle: a ledger but for its charges. */
export abstract class Holds {
  /** As of `Ledger`. */
  abstract hold(request: HoldRequest): Promise<Hold>;
  /** As of `Ledger`. */
  abstract available(accountId: string): Promise<Balances>;
  /** As of `Ledger`. */
  abstract extend(hold: Hold, extension: Extension): Promise<Hold>;
  /** As of `Ledger`. */
  abstract renew(holds: readonly Hold[]): Promise<void>;
  /** As of `Ledger`. */
  abstract release(hold: Hold): Promise<void>;

  /** Shrinks a hold to what its charge costs, which is durable. It ends when that is posted. */
  abstract settle(hold: Hold, cost: Balances): Promise<void>;
}

/** The most charges that `Charges.post` takes at once. */
export const CHARGES_PER_POSTING = 200;

/** The books, as processes that settle write to them where the event log does not take a charge. */
export abstract class Charges {
  /** Resolves once each is posted, at most `CHARGES_PER_POSTING` of them. One that was posted before is not again. */
  abstract post(charges: readonly Charge[]): Promise<void>;

  /** Gives back all that is left of a posted charge, once. Refuses as a refund does. */
  abstract giveBack(charge: Charge): Promise<void>;
}

export const TRANSFER_KINDS = [
  'credit',
  'charge',
  'refund',
  'grant',
  'expiry',
  'deposit',
  'write_off',
  'reversal',
  'debt',
  'repayment',
] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

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
  /** What was looked at: the whole book as well when no audit has proved it before. */
  readonly scope: AuditScope;
  /** When the audit was made that this one goes on from. */
  readonly since?: Date;
  /** How many of each were looked at. */
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
  /** Chosen by the operator, or the id of a payment; the same reference credits once. */
  readonly reference: string;
  /** The way by which a wallet's payment came: it is a deposit then. Default: the operator's credit. */
  readonly rail?: PaymentRailName;
}

/** Where deposits come from, as the books name it. */
export const PAYMENT_RAILS = ['base', 'solana'] as const;
export type PaymentRailName = (typeof PAYMENT_RAILS)[number];

/** Takes a deposit back whose payment is gone from its chain. */
export interface Reversal {
  readonly accountId: string;
  readonly rail: PaymentRailName;
  /** That of the deposit, which is taken back once. */
  readonly reference: string;
}

/** The most deposits that are read at once. */
export const DEPOSITS_AT_ONCE = 500;

/** Which deposits and reversals: those of these references, or a page of all, the oldest first. */
export type DepositsWanted =
  { readonly references: readonly string[] } | { readonly after: bigint; readonly limit: number };

/** Gives back what a request cost, or a part of it. */
export interface Refund {
  readonly accountId: string;
  readonly requestId: string;
  /** Chosen by the operator; the same reference refunds once. */
  readonly reference: string;
  /** By currency; without it, all that is left of the charge. */
  readonly amount?: Balances;
}

/** A line of a posted charge, and what was paid of its amount; the rest was written off. */
interface PostedLine {
  readonly sku: string;
  readonly units: number;
  readonly priceNanoPerMillion: bigint;
  readonly amountNano: bigint;
  readonly paid: Balances;
}

/** What was given back of a charge: by an operator, or by itself since its request ended with an error. */
interface PostedRefund {
  readonly reference: string;
  readonly amount: Balances;
  readonly cause: 'operator' | 'failed_request';
  readonly at: Date;
}

/** A charge as it is in the books. */
export interface PostedCharge extends Omit<Charge, 'at' | 'lines'> {
  readonly at: Date;
  readonly lines: readonly PostedLine[];
  /** The first one first. */
  readonly refunds: readonly PostedRefund[];
}

/** What an account has staked: 1 token is worth 1 DIEM a day. */
export interface Stake {
  readonly accountId: string;
  readonly tokensNano: bigint;
  /** The last day, such as `2026-11-21` in UTC, for which its DIEM was set. */
  readonly grantedOn?: string;
}

/** What an audit looks at: the whole book, or what has come since the last audit that found nothing. */
export type AuditScope = 'whole' | 'new';

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

  /**
   * Adds USD, once for each account and reference, of which a debt is paid first. Refuses: REFERENCE_REUSED when the
   * amount differs.
   */
  abstract credit(credit: Credit): Promise<Transfer>;

  /**
   * Takes a deposit back, once. What the account has not got any more becomes its debt. Refuses: INVALID_REQUEST where
   * there is no such deposit; UNAVAILABLE.
   */
  abstract reverse(reversal: Reversal): Promise<Transfer>;

  /** Deposits of payments and their reversals, at most `DEPOSITS_AT_ONCE`, in the order of their ids. */
  abstract deposits(wanted: DepositsWanted): Promise<readonly Transfer[]>;

  /**
   * Gives back at most what a request cost, in the currencies it was paid in, once for each account and reference.
   * Refuses: CHARGE_NOT_FOUND; REFUND_TOO_LARGE; REFERENCE_REUSED when request or amount differ.
   */
  abstract refund(refund: Refund): Promise<readonly Transfer[]>;

  /** A charge by its request. Refuses: CHARGE_NOT_FOUND, saying why where its charge could not be posted. */
  abstract charge(requestId: string): Promise<PostedCharge>;

  /** What the account has staked; nothing for one that never did. */
  abstract stake(accountId: string): Promise<Stake>;

  /**
   * Sets what an account has staked. Its DIEM is set to it at once where that was not done today, and at the
   * beginning of every UTC day.
   */
  abstract setStake(accountId: string, tokensNano: bigint): Promise<Stake>;

  abstract transfers(accountId: string, page: Page): Promise<readonly Transfer[]>;

  /** Proves the book, or what is new in it since it was last proved. */
  abstract audit(scope: AuditScope): Promise<AuditReport>;
}
