import type { Catalog, Model, NamedModels } from '@svc/catalog';
import type { CatalogEntry, Deprecation } from '@svc/contracts/catalog';
import { Problem } from '@svc/contracts/problems';
import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import { splitModelName } from './svc-parameters.js';

/** The notice for clients that request a deprecated model. */
export interface DeprecationNotice {
  readonly warning: string;
  /** ISO 8601. */
  readonly date: string;
  /** The id of the replacement. */
  readonly replacement: string | undefined;
}

export interface FoundModel<Offered> {
  readonly model: Offered;
  readonly deprecation: DeprecationNotice | undefined;
}

export interface FoundTextModel extends FoundModel<Model> {
  /** The parameters after the name. */
  readonly suffix: Record<string, unknown>;
}

/**
 * The text model for a name, which may have a suffix with parameters. Refuses: MODEL_NOT_FOUND,
 * MODEL_RETIRED, MODEL_OFFLINE.
 */
export function findTextModel(name: string, catalog: Catalog, nowMs = Date.now()): FoundTextModel {
  const found = textModelNamed(name, catalog, nowMs);
  refuseOffline(found);
  return found;
}

/** As `findTextModel`, for a model that may be offline. */
export function textModelNamed(name: string, { text }: Catalog, nowMs = Date.now()): FoundTextModel {
  // Tries the whole name first, since ids may contain colons.
  const split = text.find(name) ? { name, parameters: {} } : splitModelName(name);
  return { ...modelNamed(split.name, text, nowMs), suffix: split.parameters };
}

/**
 * The model of one type for a name: that model, or its replacement after its removal. Refuses:
 * MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE.
 */
export function findModel<Offered extends CatalogEntry>(
  name: string,
  models: NamedModels<Offered>,
  nowMs = Date.now(),
): FoundModel<Offered> {
  const found = modelNamed(name, models, nowMs);
  refuseOffline(found);
  return found;
}

function refuseOffline({ model }: FoundModel<CatalogEntry>): void {
  if (model.offline) throw new Problem('MODEL_OFFLINE');
}

function modelNamed<Offered extends CatalogEntry>(
  name: string,
  models: NamedModels<Offered>,
  nowMs: number,
): FoundModel<Offered> {
  const named = models.find(name);
  if (!named) throw modelNotFound(name, models);
  const isServed = (candidate: Offered): boolean => servingModel(candidate, models, nowMs) !== undefined;
  // A trait is transferred to the next model that has it.
  const heirs = (): Offered[] => models.list.filter(({ traits }) => traits.includes(name));
  const entry = isServed(named) ? named : heirs().find(isServed);
  const model = entry && servingModel(entry, models, nowMs);
  if (!model) throw modelRetired(named);
  return { model, deprecation: deprecationNotice(entry, nowMs) };
}

/** Where models of each type are used. */
const ROUTE_OF_TYPE: Readonly<Record<CatalogEntry['type'], RouteDefinition>> = {
  text: routes.chatCompletions,
  embedding: routes.embeddings,
  rerank: routes.rerank,
  moderation: routes.moderations,
  tts: routes.speech,
  asr: routes.transcription,
  image: routes.generateImage,
  inpaint: routes.editImage,
  upscale: routes.upscaleImage,
  video: routes.queueVideo,
  music: routes.queueMusic,
};

/** The error for a name that no model of this type has: with the route of its type, or a suggestion. */
export function modelNotFound(
  name: string,
  models: Pick<NamedModels<never>, 'suggest' | 'ofOtherType'>,
): Problem {
  const other = models.ofOtherType(name);
  if (other) {
    const { method, path } = ROUTE_OF_TYPE[other.type];
    const message = `${other.id} is a model of the type ${other.type}; use it with ${method} ${path}.`;
    return new Problem('MODEL_NOT_FOUND', { param: 'model', message });
  }
  const suggestion = models.suggest(name);
  const hint = suggestion === undefined ? '' : `. Did you mean ${suggestion}?`;
  return new Problem('MODEL_NOT_FOUND', {
    param: 'model',
    message: `Specified model not found: ${name.slice(0, 200)}${hint}`,
  });
}

/** The model that serves requests for `entry`: itself or its replacement; undefined if neither is offered. */
export function servingModel<Offered extends CatalogEntry>(
  entry: Offered,
  models: NamedModels<Offered>,
  nowMs: number,
): Offered | undefined {
  const seen = new Set<string>();
  let model: Offered | undefined = entry;
  while (model && isRemoved(model.deprecation, nowMs)) {
    const { autoRemap, replacementModelId }: Deprecation = model.deprecation;
    // Replacements may form a cycle.
    if (!autoRemap || replacementModelId === undefined || seen.has(model.id)) return undefined;
    seen.add(model.id);
    model = models.find(replacementModelId);
  }
  return model;
}

export function isRemoved(deprecation: Deprecation | undefined, nowMs: number): deprecation is Deprecation {
  return deprecation !== undefined && nowMs >= Date.parse(deprecation.removesAt);
}

/** The error for a removed model, with the date and its replacement. */
export function modelRetired({ id, deprecation }: Pick<CatalogEntry, 'id' | 'deprecation'>): Problem {
  const since = deprecation ? ` since ${deprecation.removesAt}` : '';
  const use = deprecation?.replacementModelId;
  const hint = use === undefined ? '' : ` Use ${use} instead.`;
  return new Problem('MODEL_RETIRED', {
    param: 'model',
    message: `The model ${id} is no longer offered${since}.${hint}`,
  });
}

function deprecationNotice({ id, deprecation }: CatalogEntry, nowMs: number): DeprecationNotice | undefined {
  if (!deprecation) return undefined;
  const { startsAt, date, removesAt, replacementModelId: replacement } = deprecation;
  if (startsAt !== undefined && nowMs < Date.parse(startsAt)) return undefined;
  const fate = isRemoved(deprecation, nowMs) ? 'was removed' : 'is deprecated and will be removed';
  const warning = `The model ${id} ${fate} on ${removesAt}${advice(deprecation, nowMs)}.`;
  return { warning, date, replacement };
}

function advice(deprecation: Deprecation, nowMs: number): string {
  const { autoRemap, replacementModelId } = deprecation;
  if (replacementModelId === undefined) return '';
  if (isRemoved(deprecation, nowMs)) return `; ${replacementModelId} answers in its place`;
  if (autoRemap) return `; from then on ${replacementModelId} answers in its place`;
  return `; use ${replacementModelId} instead`;
}
