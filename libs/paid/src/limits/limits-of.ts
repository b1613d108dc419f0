import type { Catalog } from '@svc/catalog';
import { type Caller, DAY_MS, type Limit } from '@svc/contracts/ports';
import type { CatalogEntry } from '@svc/contracts/catalog';

/**
 * The limits that apply to a caller and a model: those of the catalogue, the operator and the key. Lines of
 * batches have those of days only, since a bound of their own says how many run at once.
 */
export function limitsOf(caller: Caller, model: CatalogEntry, catalog: Catalog): Limit[] {
  const { accountLimits, limits = [], tier, inBatch } = caller;
  let own = catalog.accountLimits(model, tier);
  if (accountLimits) {
    own = replaced(own, accountLimits.find((limit) => limit.model === undefined)?.limits);
    own = replaced(own, accountLimits.find((limit) => limit.model === model.id)?.limits);
  }
  if (inBatch) return [...own, ...limits].filter(({ windowMs }) => windowMs >= DAY_MS);
  return [...own, ...limits, ...catalog.globalLimits(model)];
}

/** Limits with others in place of those of the same unit and window. */
function replaced(limits: Limit[], by: readonly Limit[] = []): Limit[] {
  const isReplaced = ({ unit, windowMs }: Limit): boolean =>
    by.some((limit) => limit.unit === unit && limit.windowMs === windowMs);
  return [...by, ...limits.filter((limit) => !isReplaced(limit))];
}
