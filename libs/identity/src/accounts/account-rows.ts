import { type AccountLimit, type Caller, perMinute } from '@svc/contracts/ports';

/** The columns of an account that concern its callers. */
export interface AccountRow {
  readonly tier: string;
  readonly paid: boolean;
  readonly concurrentRequests: number | null;
  readonly suspendedAt: Date | string | null;
  readonly limits: readonly LimitRow[];
}

interface LimitRow {
  readonly model: string;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** The model in the row of a limit that holds for every model without a row of its own. */
const EVERY_MODEL = '*';

/** The properties that a caller takes from its account. */
export function accountTerms(
  account: AccountRow,
): Pick<Caller, 'tier' | 'paid' | 'accountLimits' | 'concurrent' | 'isSuspended'> {
  return {
    tier: account.tier === 'partner' ? 'partner' : 'standard',
    paid: account.paid,
    ...(account.limits.length > 0 && { accountLimits: account.limits.map(accountLimit) }),
    ...(account.concurrentRequests !== null && { concurrent: account.concurrentRequests }),
    ...(account.suspendedAt !== null && { isSuspended: true }),
  };
}

function accountLimit({ model, ...row }: LimitRow): AccountLimit {
  return { ...(model !== EVERY_MODEL && { model }), limits: perMinute('user', row) };
}
