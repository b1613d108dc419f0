import type { Balances, Currency } from '../money/money.js';
import type { Charge, ChargeLine } from '../messages/usage.js';

/**
 * HOUR is a UTC hour, EPOCH a UTC day, WEEK seven of them from a Monday on, MONTH a UTC month, LIFETIME never
 * resets.
 */
export const LIMIT_PERIODS = ['HOUR', 'EPOCH', 'WEEK', 'MONTH', 'LIFETIME'] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** The periods in which an alert is given once: those that the daily sums add up to. */
export const ALERT_PERIODS = ['EPOCH', 'WEEK', 'MONTH', 'LIFETIME'] as const satisfies readonly LimitPeriod[];
export type AlertPeriod = (typeof ALERT_PERIODS)[number];

const DAY_MS = 86_400_000;
/** Days from the Monday before Unix time began. */
const MONDAY = 3;

/** The Monday on or before a UTC day; both such as `2026-11-21`. */
export function weekOf(day: string): string {
  const days = Date.parse(day) / DAY_MS;
  return new Date((days - ((days + MONDAY) % 7)) * DAY_MS).toISOString().slice(0, 10);
}

/** What a key may spend in a period, by currency. An absent currency has no limit. */
export interface SpendingLimit {
  readonly period: LimitPeriod;
  readonly usdNano?: bigint;
  readonly diemNano?: bigint;
}

/** What an end user of an account may spend in a period. */
export interface UserLimit extends SpendingLimit {
  readonly endUser: string;
}

export interface HoldRequest {
  /** One hold for each request. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly amountNano: bigint;
  /**
   * If the account has less than the amount, all of it is held, provided it is at least this much. Default:
   * the amount.
   */
  readonly atLeastNano?: bigint;
  /** Held instead of the amount, if it is at most a tenth of what can be spent. */
  readonly preferredNano?: bigint;
  /** What the key may spend; what it has spent and holds counts against it. */
  readonly keyLimit?: SpendingLimit;
  /** The same for the end user. */
  readonly userLimit?: UserLimit;
}

/** More money for a hold. */
export interface Extension {
  readonly moreNano: bigint;
  /** As for a hold. Default: all of it. */
  readonly atLeastNano?: bigint;
}

/**
 * Money set aside for a request: DIEM first, then USD. The split is fixed, so a cost within it needs no
 * further check.
 */
export interface Hold {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly amount: Balances;
  /** What the account could spend just before the hold was placed. */
  readonly before: Balances;
  readonly keyLimit?: SpendingLimit;
  readonly userLimit?: UserLimit;
}

/** A hold of a request under way, as its account's operator sees it. */
export interface OpenHold {
  readonly requestId: string;
  readonly keyId: string;
  /** The amount set aside now. */
  readonly amount: Balances;
  /** The time after which it lapses, unless its request renews it. */
  readonly leftMs: number;
}

/** The most holds in a result of `Books.openHolds`. */
export const OPEN_HOLDS_SHOWN = 100;

/** The most holds in one call of `renew`. */
export const HOLDS_PER_RENEWAL = 1_000;

/**
 * Sets money aside before a request and charges it afterwards. A hold has a lease: its caller renews it while
 * the request is in progress, so that the holds of a crashed caller expire. A call that waits for nothing
 * returns its result instead of a promise; a refusal always rejects.
 */
export abstract class Ledger {
  /**
   * Sets money aside, or none. Rejects with INSUFFICIENT_BALANCE; API_KEY_USD_SPEND_LIMIT_EXCEEDED or
   * API_KEY_DIEM_SPEND_LIMIT_EXCEEDED if the account could pay but the key may not; UNAVAILABLE if neither
   * can be determined. A lack of money is provisional while a request that may still give some back holds it.
   */
  abstract hold(request: HoldRequest): Hold | Promise<Hold>;

  /** What the account can spend now: its balances minus its holds. Rejects with UNAVAILABLE. */
  abstract available(accountId: string): Promise<Balances>;

  /**
   * Sets more aside and returns the larger hold. If money is short (as for a hold), the hold stays unchanged.
   */
  abstract extend(hold: Hold, extension: Extension): Promise<Hold>;

  /**
   * Restarts the leases of holds, at most `HOLDS_PER_RENEWAL` of them. An expired one is placed again if the
   * money is still there; one that is settled, released or unknown is skipped.
   */
  abstract renew(holds: readonly Hold[]): Promise<void>;

  /**
   * Turns a hold into a charge. Once resolved the charge is durable: it will be posted exactly once, whatever
   * crashes, and the rest of the hold can soon be spent again. Idempotent by request id. The cost must be
   * within the hold, currency by currency.
   */
  abstract settle(hold: Hold, charge: Charge): Promise<void>;

  /** Releases a hold. Nothing is charged. A missing hold is not an error. */
  abstract release(hold: Hold): Promise<void> | undefined;
}

/** The store of holds, for processes that settle: a ledger without its charges. */
export abstract class Holds {
  /** See `Ledger`. */
  abstract hold(request: HoldRequest): Hold | Promise<Hold>;
  /** See `Ledger`. */
  abstract available(accountId: string): Promise<Balances>;
  /** See `Ledger`. */
  abstract extend(hold: Hold, extension: Extension): Promise<Hold>;
  /** See `Ledger`. */
  abstract renew(holds: readonly Hold[]): Promise<void>;
  /** See `Ledger`. */
  abstract release(hold: Hold): Promise<void> | undefined;

  /** Shrinks a hold to the cost of its charge, which is durable. The hold ends when the charge is posted. */
  abstract settle(hold: Hold, cost: Balances): Promise<void> | undefined;
}

/** The most charges in one call of `Charges.post`. */
export const CHARGES_PER_POSTING = 200;

/** The books, for processes that settle while the event log accepts no charges. */
export abstract class Charges {
  /**
   * Resolves once each charge is posted; at most `CHARGES_PER_POSTING` of them. Charges posted before are
   * skipped.
   */
  abstract post(charges: readonly Charge[]): Promise<void>;

  /**
   * Makes a request cost nothing, once: its charge is blocked if it is not posted yet, and otherwise all that
   * is left of it is refunded. Recorded as an event, so that a restore repeats it. May be repeated.
   */
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
  'debit',
  'credit_reversal',
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
  /** Its cause: a request id or an operator's reference. Unique with the kind and currency. */
  readonly reference: string;
  readonly at: Date;
}

export interface AuditReport {
  readonly ok: boolean;
  /** The audited part: the whole book also if no audit has passed before. */
  readonly scope: AuditScope;
  /** The time of the previous audit that this one continues. */
  readonly since?: Date;
  /** The number of audited rows. */
  readonly accounts: number;
  readonly transfers: number;
  readonly charges: number;
  readonly imbalanceUsdNano: bigint;
  readonly imbalanceDiemNano: bigint;
  /** A sentence for each mismatch. */
  readonly mismatches: readonly string[];
}

export interface Credit {
  readonly accountId: string;
  readonly usdNano: bigint;
  /** Chosen by the operator, or the id of a payment; the same reference credits once. */
  readonly reference: string;
  /** The rail of a wallet's payment, which makes it a deposit. Default: an operator's credit. */
  readonly rail?: string;
}

/** Reverses an operator's credit, or a deposit whose payment vanished from its chain. */
export interface Reversal {
  readonly accountId: string;
  /** The rail of a deposit. Default: an operator's credit. */
  readonly rail?: string;
  /** The reference of the credit or deposit; it is reversed once. */
  readonly reference: string;
}

/** Takes USD from an account. */
export interface Debit {
  readonly accountId: string;
  readonly usdNano: bigint;
  /** Chosen by the operator; the same reference debits once. */
  readonly reference: string;
}

/** The most deposits read at once. */
export const DEPOSITS_AT_ONCE = 500;

/** Which deposits and reversals to read: those with these references, or a page of all, oldest first. */
export type DepositsWanted =
  { readonly references: readonly string[] } | { readonly after: bigint; readonly limit: number };

/** Refunds the cost of a request, or a part of it. */
export interface Refund {
  readonly accountId: string;
  readonly requestId: string;
  /** Chosen by the operator; the same reference refunds once. */
  readonly reference: string;
  /** By currency; default: all that is left of the charge. */
  readonly amount?: Balances;
}

/** A line of a posted charge, with the paid part of its amount; the rest was written off. */
interface PostedLine extends ChargeLine {
  readonly paid: Balances;
}

/** A refund of a charge: by an operator, or automatic because its request ended with an error. */
interface PostedRefund {
  readonly reference: string;
  readonly amount: Balances;
  readonly cause: 'operator' | 'failed_request';
  readonly at: Date;
}

/** A charge in the books. */
export interface PostedCharge extends Omit<Charge, 'at' | 'lines'> {
  readonly at: Date;
  readonly lines: readonly PostedLine[];
  /** Oldest first. */
  readonly refunds: readonly PostedRefund[];
}

/** An account's stake: 1 token is worth 1 DIEM a day. */
export interface Stake {
  readonly accountId: string;
  readonly tokensNano: bigint;
  /** The last day, such as `2026-11-21` in UTC, for which its DIEM was set. */
  readonly grantedOn?: string;
}

/** What an audit covers: the whole book, or what was added since the last audit without mismatches. */
export type AuditScope = 'whole' | 'new';

export interface TransferPage {
  /** At most this many, newest first. */
  readonly limit: number;
  /** Only those with a smaller id. */
  readonly before?: bigint;
  readonly kind?: TransferKind;
  /** Only those at or after this time. */
  readonly from?: Date;
  /** Only those before this time. */
  readonly until?: Date;
}

interface AlertTerms {
  readonly currency: Currency;
  readonly amountNano: bigint;
}

/** The balance in a currency falls below an amount: once, and again after it was at least that much. */
interface BalanceAlert extends AlertTerms {
  readonly type: 'balance.low';
}

/** A key has spent an amount: once in each period. */
interface KeyAlert extends AlertTerms {
  readonly type: 'key.spend_threshold';
  readonly keyId: string;
  readonly period: AlertPeriod;
}

/** An end user has spent an amount: once in each period. */
interface EndUserAlert extends AlertTerms {
  readonly type: 'end_user.spend_threshold';
  readonly endUser: string;
  readonly period: AlertPeriod;
}

/** What an account wants to be notified of. */
export type Alert = BalanceAlert | KeyAlert | EndUserAlert;

/** The most alerts of an account. */
export const ALERTS_MAX = 100;

/** The books: credits, charges, and audits. Reads include every settled charge. */
export abstract class Books {
  /** The account's credits minus its charges. Zero for an account without transfers. */
  abstract balances(accountId: string): Promise<Balances>;

  /**
   * Adds USD, once for each account and reference; a debt is paid first. Rejects with REFERENCE_REUSED if the
   * amount differs.
   */
  abstract credit(credit: Credit): Promise<Transfer>;

  /**
   * Takes USD from the balance, once for each account and reference. Rejects with DEBIT_TOO_LARGE if the
   * balance has less, not counting what requests in progress hold; REFERENCE_REUSED if the amount differs;
   * UNAVAILABLE.
   */
  abstract debit(debit: Debit): Promise<Transfer>;

  /**
   * Reverses a credit or a deposit, once. If the account has spent some of it, that becomes a debt. Rejects
   * with CREDIT_NOT_FOUND if there is no such credit, INVALID_REQUEST if there is no such deposit;
   * UNAVAILABLE.
   */
  abstract reverse(reversal: Reversal): Promise<Transfer>;

  /** Deposits of payments and their reversals, at most `DEPOSITS_AT_ONCE`, in the order of their ids. */
  abstract deposits(wanted: DepositsWanted): Promise<readonly Transfer[]>;

  /**
   * Refunds at most the cost of a request, in the currencies it was paid in, once for each account and
   * reference. Rejects with CHARGE_NOT_FOUND; REFUND_TOO_LARGE; REFERENCE_REUSED if request or amount differ.
   */
  abstract refund(refund: Refund): Promise<readonly Transfer[]>;

  /**
   * A charge by its request. Rejects with CHARGE_NOT_FOUND, with the reason if its charge could not be
   * posted.
   */
  abstract charge(requestId: string): Promise<PostedCharge>;

  /**
   * What requests under way hold, the latest renewed first; at most `OPEN_HOLDS_SHOWN` of them. A request
   * that is charged has none.
   */
  abstract openHolds(accountId: string): Promise<readonly OpenHold[]>;

  /** The account's stake; zero for an account that never staked. */
  abstract stake(accountId: string): Promise<Stake>;

  /**
   * Sets an account's stake. Its DIEM is set at once unless that was done today, and at the beginning of
   * every UTC day.
   */
  abstract setStake(accountId: string, tokensNano: bigint): Promise<Stake>;

  abstract transfers(accountId: string, page: TransferPage): Promise<readonly Transfer[]>;

  /** In the order in which they were set. */
  abstract alerts(accountId: string): Promise<readonly Alert[]>;

  /**
   * Replaces the alerts of an account, at most `ALERTS_MAX`. The transaction that posts what an alert is for
   * adds its event. What is already so is not notified.
   */
  abstract setAlerts(accountId: string, alerts: readonly Alert[]): Promise<void>;

  /** Audits the book, or what was added since the last audit. */
  abstract audit(scope: AuditScope): Promise<AuditReport>;
}
