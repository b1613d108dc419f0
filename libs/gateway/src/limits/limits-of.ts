import type { Catalog, Model } from '@svc/catalog';
import type { AdmitRequest, Caller, CatalogEntry, MinuteLimits } from '@svc/contracts';

/** The limits that apply to a caller and a model: those of the catalogue, the operator and the key. */
export function limitsOf(caller: Caller, model: Model, catalog: Catalog): AdmitRequest['limits'] {
  const tier = catalog.limits(model.tier, caller.tier);
  const user = { ...tier, ...overridesOf(caller, model.id) };
  return {
    user,
    ...(caller.limits && { api_key: caller.limits }),
    ...(model.globalLimits && { global: defined(model.globalLimits) }),
  };
}

/** The limits of a model whose tier limits only requests. The operator or the key may add a token limit. */
export function requestLimitsOf(
  caller: Caller,
  { id, type }: { readonly id: string; readonly type: Exclude<CatalogEntry['type'], 'text'> },
  catalog: Catalog,
): AdmitRequest['limits'] {
  const requestsPerMinute = Math.min(Number.MAX_SAFE_INTEGER, ...catalog.requestLimits(type, caller.tier));
  const unlimited = { requestsPerMinute, tokensPerMinute: Number.MAX_SAFE_INTEGER };
  return {
    user: { ...unlimited, ...overridesOf(caller, id) },
    ...(caller.limits && { api_key: caller.limits }),
  };
}

/**
 * The operator's limits for this account in place of its tier's. A limit for the model takes precedence over
 * one for all models.
 */
function overridesOf({ accountLimits }: Caller, model: string): MinuteLimits {
  if (!accountLimits) return {};
  const all = accountLimits.find((limits) => limits.model === undefined);
  const one = accountLimits.find((limits) => limits.model === model);
  const requestsPerMinute = one?.requestsPerMinute ?? all?.requestsPerMinute;
  const tokensPerMinute = one?.tokensPerMinute ?? all?.tokensPerMinute;
  return defined({ requestsPerMinute, tokensPerMinute });
}

function defined(limits: {
  requestsPerMinute?: number | undefined;
  tokensPerMinute?: number | undefined;
}): MinuteLimits {
  return {
    ...(limits.requestsPerMinute !== undefined && { requestsPerMinute: limits.requestsPerMinute }),
    ...(limits.tokensPerMinute !== undefined && { tokensPerMinute: limits.tokensPerMinute }),
  };
}

/** The tier of an account's limits as clients see it. */
export function tierName({ tier, paid }: Caller): string {
  if (tier === 'partner') return 'partner';
  return paid ? 'paid' : 'free';
}
