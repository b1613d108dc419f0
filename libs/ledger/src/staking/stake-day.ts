import { STAKING, customerAccount, type PostedBalances } from '../accounts/accounts.js';
import type { NewTransfer } from '../posting/posting.js';

/** What is known of an account as its DIEM is set. */
export interface StakeDay {
  /** A UTC day, such as `2026-11-21`. */
  readonly day: string;
  readonly at: string;
  readonly tokensNano: bigint;
  /** Posted DIEM that no request holds: it was set aside, so nobody can spend it meanwhile. */
  readonly restNano: bigint;
  readonly before: PostedBalances;
}

/** What setting the DIEM of an account does to the books. */
export interface StakeDaySet {
  /** At most one of each kind; none where nothing changes. */
  readonly transfers: readonly NewTransfer[];
  readonly after: PostedBalances;
}

/**
 * What is left of the day before expires, and what is missing to the stake is granted. DIEM that requests hold over
 * midnight stays, to be charged, and counts against the new day: the account then has its stake or, where more is
 * held, that.
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
