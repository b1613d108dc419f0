import type { AccountLimit, Caller, MinuteLimits } from '@svc/contracts';

/** What the row of an account says of its callers. */
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

/** Stands in a limit's row for every model without a row of its own. */
const EVERY_MODEL = '*';

/** What a caller has of its account. */
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

/** Whose limits a row has, where it has any. */
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
