import type { Catalog, Model, NamedModels } from '@svc/catalog';
import type { Caller, Limit } from '@svc/contracts/ports';
import type { CatalogEntry } from '@svc/contracts/catalog';
import { Problem } from '@svc/contracts/problems';
import { type HeaderValues, modelHeaders } from '../http/header-values.js';
import { limitsOf } from '../limits/limit-gate.js';
import { type FoundModel, findModel, findTextModel } from '../models/model-lookup.js';
import { refuseOthers } from '../models/allowed-models.js';
import { refuseAnonymous } from '../models/model-privacy.js';

/** Who buys, and the catalogue that sells. */
export interface Buyer {
  readonly caller: Caller;
  readonly catalog: Catalog;
}

/**
 * A model that its caller may use, with the limits that apply. Only `sellModel` and `sellTextModel` make one,
 * and an operation of a model takes nothing else, so no endpoint can go around what they refuse.
 */
export class ModelSale<Offered extends CatalogEntry = CatalogEntry> {
  /** So that nothing else can pose as a sale. */
  declare protected readonly isSold: true;
  /** The name in charges. */
  readonly name: string;
  readonly resource: { readonly kind: 'model'; readonly name: string };

  private constructor(
    readonly model: Offered,
    readonly limits: readonly Limit[],
    /** About the model and its deprecation, for the response. */
    readonly headers: HeaderValues,
  ) {
    this.name = model.id;
    this.resource = { kind: 'model', name: model.id };
  }

  /** Refuses: PRO_ONLY_MODEL, UNAUTHORIZED, MODEL_NOT_ALLOWED. */
  static of<Offered extends CatalogEntry>(
    { model, deprecation }: FoundModel<Offered>,
    { caller, catalog }: Buyer,
  ): ModelSale<Offered> {
    if (model.paidOnly && !caller.paid) throw new Problem('PRO_ONLY_MODEL', { param: 'model' });
    refuseAnonymous(caller, model);
    refuseOthers(caller, model, catalog);
    return new ModelSale(model, limitsOf(caller, model, catalog), modelHeaders(model, deprecation));
  }
}

/**
 * Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED, MODEL_NOT_ALLOWED.
 */
export const sellModel = <Offered extends CatalogEntry>(
  name: string,
  models: NamedModels<Offered>,
  buyer: Buyer,
): ModelSale<Offered> => ModelSale.of(findModel(name, models), buyer);

/** A text model and the parameters after its name. */
export interface TextSale {
  readonly sale: ModelSale<Model>;
  readonly suffix: Readonly<Record<string, unknown>>;
}

/** A text model, with the parameters after its name. Refuses the same. */
export function sellTextModel(name: string, buyer: Buyer): TextSale {
  const known = salesTo(buyer);
  const earlier = known.get(name);
  if (earlier) return earlier;
  const found = findTextModel(name, buyer.catalog);
  const sold = { sale: ModelSale.of(found, buyer), suffix: found.suffix };
  // What becomes of a deprecated model depends on the time.
  const isLasting = !found.model.deprecation && !found.deprecation;
  if (isLasting && known.size < SALES_OF_CALLER) known.set(name, sold);
  return sold;
}

/** The most names that are remembered for a caller, who may write a model's name with any parameters. */
const SALES_OF_CALLER = 100;

/** Earlier sales by the catalogue's models, of which a change of the catalogue makes new ones, and caller. */
const sales = new WeakMap<NamedModels<Model>, WeakMap<Caller, Map<string, TextSale>>>();

function salesTo({ caller, catalog: { text } }: Buyer): Map<string, TextSale> {
  let ofCatalog = sales.get(text);
  if (!ofCatalog) sales.set(text, (ofCatalog = new WeakMap<Caller, Map<string, TextSale>>()));
  let ofCaller = ofCatalog.get(caller);
  if (!ofCaller) ofCatalog.set(caller, (ofCaller = new Map<string, TextSale>()));
  return ofCaller;
}

/** A route that is sold without a model. */
export interface RouteSale {
  /** The name in charges. */
  readonly name: string;
  readonly resource: { readonly kind: 'route'; readonly name: string };
  readonly limits: readonly Limit[];
}
