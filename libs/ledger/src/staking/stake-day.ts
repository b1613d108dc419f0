import type { PostedBalances } from '@svc/hold-book';
import { STAKING, customerAccount } from '../accounts/accounts.js';
import type { NewTransfer } from '../posting/posting.js';

/** The state of an account when its DIEM is reset. */
export interface StakeDay {
  /** A UTC day, such as `2026-11-21`. */
  readonly day: string;
  readonly at: string;
  readonly tokensNano: bigint;
  /** Posted DIEM that no request holds. It was set aside, so it can't be spent meanwhile. */
  readonly restNano: bigint;
  readonly before: PostedBalances;
}

/** The effect of resetting an account's DIEM on the books. */
export interface StakeDaySet {
  /** At most one of each kind; empty if nothing changes. */
  readonly transfers: readonly NewTransfer[];
  readonly after: PostedBalances;
}

/**
 * DIEM left from the day before expires, and DIEM missing from the stake is granted. DIEM that requests hold
 * over midnight stays to be charged, and counts against the new day. The account then has its stake, or the
 * held amount if that is larger.
 */
export function setStakeDay({ day, at, tokensNano, restNano, before }: StakeDay): StakeDaySet {
  const posted = before.balances.diemNano;
  const expired = restNano < posted ? restNano : posted;
  const held = posted - expired;
  const granted = tokensNano > held ? tokensNano - held : 0n;
  const { accountId } = before;
  const customer = customerAccount(accountId);
  const shared = { currency: 'DIEM', reference: day, accountId, at } as const;
  const transfers: NewTransfer[] = [];
  if (expired > 0n)
    transfers.push({
      kind: 'expiry',
      debitAccount: customer,
      creditAccount: STAKING,
      amountNano: expired,
      ...shared,
    });
  if (granted > 0n)
    transfers.push({
      kind: 'grant',
      debitAccount: STAKING,
      creditAccount: customer,
      amountNano: granted,
      ...shared,
    });
  if (transfers.length === 0) return { transfers, after: before };
  const balances = { usdNano: before.balances.usdNano, diemNano: held + granted };
  return { transfers, after: { accountId, balances, version: before.version + 1n } };
}
