import {
  type AccountLimit,
  type Caller,
  FALLBACK_CAUSES,
  type FallbackDefaults,
  perMinute,
} from '@svc/contracts/ports';

/** The columns of an account that concern its callers. */
export interface AccountRow {
  readonly tier: string;
  readonly paid: boolean;
  readonly concurrentRequests: number | null;
  readonly suspendedAt: Date | string | null;
  readonly fallbackModels: readonly string[];
  readonly fallbackOn: readonly string[];
  readonly userKey: string;
  readonly limitsUsers: boolean;
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
): Pick<
  Caller,
  'tier' | 'paid' | 'accountLimits' | 'concurrent' | 'isSuspended' | 'fallbacks' | 'userKey' | 'limitsUsers'
> {
  const fallbacks = fallbackDefaults(account);
  return {
    tier: account.tier === 'partner' ? 'partner' : 'standard',
    paid: account.paid,
    userKey: account.userKey,
    ...(account.limitsUsers && { limitsUsers: true }),
    ...(account.limits.length > 0 && { accountLimits: account.limits.map(accountLimit) }),
    ...(account.concurrentRequests !== null && { concurrent: account.concurrentRequests }),
    ...(account.suspendedAt !== null && { isSuspended: true }),
    ...(fallbacks && { fallbacks }),
  };
}

function accountLimit({ model, ...row }: LimitRow): AccountLimit {
  return { ...(model !== EVERY_MODEL && { model }), limits: perMinute('user', row) };
}

/** The models that an account or a key falls back to by default; undefined without any. */
export function fallbackDefaults({
  fallbackModels: models,
  fallbackOn,
}: Pick<AccountRow, 'fallbackModels' | 'fallbackOn'>): FallbackDefaults | undefined {
  if (models.length === 0) return undefined;
  return { models, on: FALLBACK_CAUSES.filter((cause) => fallbackOn.includes(cause)) };
}
