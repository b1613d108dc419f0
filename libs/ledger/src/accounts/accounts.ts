/** Internal accounts: no customer owns them. They have transfers but no running balance. */
export const REVENUE = 'revenue';
export const WRITE_OFFS = 'write_offs';
export const OPERATOR_DEPOSITS = 'deposits:operator';
export const STAKING = 'staking';
/** What customers owe because a deposit was reversed after they had spent it. */
export const DEBTS = 'debts';

/** The internal account that deposits of a payment rail come from. */
export const railDeposits = (rail: string): string => `deposits:${rail}`;

const CUSTOMER = 'customer:';

/** The name of a customer's account in transfers. */
export function customerAccount(accountId: string): string {
  return CUSTOMER + accountId;
}
