import type { AccountLimit, Caller, MinuteLimits } from '@svc/contracts';

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

/** The limits in a row, if it has any. */
export function minuteLimits(row: Omit<LimitRow, 'model'>): MinuteLimits | undefined {
  const { requestsPerMinute, tokensPerMinute } = row;
  if (requestsPerMinute === null && tokensPerMinute === null) return undefined;
  return {
    ...(requestsPerMinute !== null && { requestsPerMinute }),
    ...(tokensPerMinute !== null && { tokensPerMinute }),
  };
}

function accountLimit({ model, ...row }: LimitRow): AccountLimit {
  return { ...(model !== EVERY_MODEL && { model }), ...minuteLimits(row) };
}
