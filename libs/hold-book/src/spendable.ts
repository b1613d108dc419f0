import type { Balances } from '@svc/contracts/money';
import type { HoldRequest, SpendingLimit } from '@svc/contracts/ports';
import type { ProblemCode } from '@svc/contracts/problems';
import type { BudgetOwner } from './hold-book.js';

/** The amount wanted, and its alternatives. */
export interface Take {
  readonly amountNano: bigint;
  /** Less than the amount is taken if it is at least this much; default: the amount itself. */
  readonly atLeastNano?: bigint;
  /** Taken in place of the amount if it is at most a tenth of what is left. */
  readonly preferredNano?: bigint;
}

/**
 * A response's worst-case cost is held in full while it is at most this fraction (1/10) of what can be spent.
 */
const PREFERRED_SHARE = 10n;

/** Takes an amount from what is left, DIEM first. `undefined` if there is too little. */
export function take(left: Balances, { amountNano, atLeastNano, preferredNano }: Take): Balances | undefined {
  const total = left.diemNano === 0n ? left.usdNano : left.diemNano + left.usdNano;
  const isPreferred = preferredNano !== undefined && preferredNano * PREFERRED_SHARE <= total;
  const wantedNano = isPreferred ? preferredNano : amountNano;
  const leastNano = isPreferred ? preferredNano : (atLeastNano ?? amountNano);
  if (total < leastNano) return undefined;
  const taken = smaller(total, wantedNano);
  const diemNano = smaller(left.diemNano, taken);
  return { diemNano, usdNano: diemNano === 0n ? taken : taken - diemNano };
}

/** `balances` less `gone`; not below zero in either currency. */
export function remaining(balances: Balances, gone: Balances): Balances {
  return {
    usdNano: atLeastZero(balances.usdNano - gone.usdNano),
    diemNano: balances.diemNano === 0n ? 0n : atLeastZero(balances.diemNano - gone.diemNano),
  };
}

/** A sum in which one amount replaces another. Most accounts have no DIEM, so its sum stays the same. */
export function replaced(sum: Balances, from: Balances, to: Balances): Balances {
  return {
    usdNano: sum.usdNano - from.usdNano + to.usdNano,
    diemNano: from.diemNano === to.diemNano ? sum.diemNano : sum.diemNano - from.diemNano + to.diemNano,
  };
}

export function covers(left: Balances, amount: Balances): boolean {
  return left.usdNano >= amount.usdNano && left.diemNano >= amount.diemNano;
}

/** The smaller amount in each currency. */
export function least(a: Balances, b: Balances): Balances {
  return { usdNano: smaller(a.usdNano, b.usdNano), diemNano: smaller(a.diemNano, b.diemNano) };
}

/** A limit of a request besides its account's balance, and what its spending counts for. */
export interface Bound {
  /** The id of the key or of the end user. */
  readonly id: string;
  readonly limit: SpendingLimit;
}

export const ownerOf = ({ id, limit }: Bound): BudgetOwner => ({ id, isHourly: limit.period === 'HOUR' });

/** The limits of a request: that of its key, then that of its end user. */
export function boundsOf({
  keyId,
  keyLimit,
  userLimit,
}: Pick<HoldRequest, 'keyId' | 'keyLimit' | 'userLimit'>): readonly Bound[] {
  if (!keyLimit && !userLimit) return NO_BOUNDS;
  return [
    ...(keyLimit ? [{ id: keyId, limit: keyLimit }] : []),
    ...(userLimit ? [{ id: userLimit.endUser, limit: userLimit }] : []),
  ];
}

const NO_BOUNDS: readonly Bound[] = [];

/** Why nothing could be taken: the key's limit if the account itself could have paid. */
export function shortOf(account: Balances, key: Balances, wanted: Take): ProblemCode {
  if (!take(account, wanted)) return 'INSUFFICIENT_BALANCE';
  return key.usdNano < account.usdNano
    ? 'API_KEY_USD_SPEND_LIMIT_EXCEEDED'
    : 'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED';
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function atLeastZero(nano: bigint): bigint {
  return nano > 0n ? nano : 0n;
}
