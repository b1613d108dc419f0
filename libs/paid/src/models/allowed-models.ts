import type { Catalog, NamedModels } from '@svc/catalog';
import { type Caller, matchesPattern } from '@svc/contracts/ports';
import type { CatalogEntry } from '@svc/contracts/catalog';
import { Problem } from '@svc/contracts/problems';

/**
 * Whether a key's list of models has this one: by a pattern of its id, or by its id, an alias or a trait, in
 * any spelling that finds it. It is the model that serves the request, so a name that leads to another one
 * has no effect.
 */
export function isAllowed(
  { restrictions }: Pick<Caller, 'restrictions'>,
  { id, type }: Pick<CatalogEntry, 'id' | 'type'>,
  catalog: Catalog,
): boolean {
  const models: NamedModels<CatalogEntry> = catalog.ofType(type);
  const allows = (name: string): boolean =>
    name.includes('*') ? matchesPattern(name.toLowerCase(), id.toLowerCase()) : models.find(name)?.id === id;
  return restrictions?.models?.some(allows) ?? true;
}

/** Refuses: MODEL_NOT_ALLOWED, if the caller's key may not use the model. */
export function refuseOthers(
  caller: Pick<Caller, 'restrictions'>,
  model: Pick<CatalogEntry, 'id' | 'type'>,
  catalog: Catalog,
): void {
  if (isAllowed(caller, model, catalog)) return;
  const message = `This API key may not use the model ${model.id}.`;
  throw new Problem('MODEL_NOT_ALLOWED', { param: 'model', message });
}
