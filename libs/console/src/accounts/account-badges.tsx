import type { ReplyAt } from '../api/routes.js';

export type ShownAccount = ReplyAt<'GET', '/operator/v1/accounts/:id'>;

/** The terms and the state of an account, in a few words. */
export const AccountBadges = ({ account }: { readonly account: Omit<ShownAccount, 'balances'> }) => (
  <span class="row">
    {account.state === 'suspended' && <span class="badge danger">suspended</span>}
    <span class="badge">{account.tier}</span>
    {account.paid && <span class="badge accent">paid models</span>}
    {account.wallet !== null && <span class="badge">wallet</span>}
  </span>
);
