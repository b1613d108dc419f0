import type { Balances, PaymentRailName } from '@svc/contracts';

/** What the database says an account has. Each change of an account has the next version, from 1 on. */
export interface PostedBalances {
  readonly accountId: string;
  readonly balances: Balances;
  readonly version: bigint;
}

/** Accounts of the books that no customer owns. They have transfers and no running balance. */
export const REVENUE = 'revenue';
export const WRITE_OFFS = 'write_offs';
export const OPERATOR_DEPOSITS = 'deposits:operator';
export const STAKING = 'staking';
/** What customers owe since a deposit was taken back that they had spent. */
export const DEBTS = 'debts';

/** Where deposits of a payment rail come from. */
export const railDeposits = (rail: PaymentRailName): string => `deposits:${rail}`;

const CUSTOMER = 'customer:';

/** The name of a customer's account in transfers. */
export function customerAccount(accountId: string): string {
  return CUSTOMER + accountId;
}
