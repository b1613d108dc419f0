import { Controller, Param, Query, Req } from '@nestjs/common';
import { Catalog, type NamedModels } from '@svc/catalog';
import {
  type AnthropicModel,
  type AnthropicModelList,
  type ModelList,
  type ModelNames,
  ModelQuery,
  type ModelView,
} from '@svc/api/models';
import type { CatalogEntry } from '@svc/contracts/catalog';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { anthropicModel, anthropicModelList } from './anthropic-models.js';
import { isRemoved, modelNotFound, modelRetired, servingModel } from './model-lookup.js';
import { isAllowed } from './allowed-models.js';
import { mayUse } from './model-privacy.js';
import { modelView } from './model-view.js';

/**
 * Lists the available models. Callers with a key see only the models that the key may use. Requests with
 * `anthropic-version` get the form of Anthropic's API.
 */
@Controller()
export class ModelsController {
  constructor(private readonly catalog: Catalog) {}

  @Serves(routes.models)
  list(
    @Req() { caller, headers }: FastifyRequest,
    @Query() { type }: ModelQuery,
  ): ModelList | AnthropicModelList {
    const offered = this.offered(type);
    const usable = caller
      ? offered.filter(
          (entry) => mayUse(caller.modelPrivacy, entry) && isAllowed(caller, entry, this.catalog),
        )
      : offered;
    if (isAnthropic(headers)) return anthropicModelList(usable, Date.now());
    return { object: 'list', type, data: usable.map(modelView) };
  }

  /** The model for each trait: the first that has it. */
  @Serves(routes.modelTraits)
  traits(@Query() { type }: ModelQuery): ModelNames {
    return this.names(type, ({ traits }) => traits);
  }

  /** The model for each alias. */
  @Serves(routes.modelAliases)
  aliases(@Query() { type }: ModelQuery): ModelNames {
    return this.names(type, ({ aliases }) => aliases);
  }

  /** The parameter is the rest of the path, since ids may contain slashes. */
  @Serves(routes.model)
  one(
    @Req() { headers }: FastifyRequest,
    @Param() { model: name }: { model: string },
  ): ModelView | AnthropicModel {
    const named = this.named(name);
    if (!named) throw modelNotFound(name, this.catalog.text);
    const entry = this.serving(named);
    if (!entry) throw modelRetired(named);
    return isAnthropic(headers) ? anthropicModel(entry, Date.now()) : modelView(entry);
  }

  /** The model with this id, of any type, or with this other name. */
  private named(name: string): CatalogEntry | undefined {
    const byId = this.catalog.entries().find(({ id }) => id === name);
    return byId ?? this.catalog.find(name);
  }

  private offered(type: ModelQuery['type']): CatalogEntry[] {
    const now = Date.now();
    return this.catalog
      .entries()
      .filter((entry) => matches(entry, type) && !isRemoved(entry.deprecation, now));
  }

  /** Includes names of removed models that have a replacement. */
  private names(type: ModelQuery['type'], of: (entry: CatalogEntry) => readonly string[]): ModelNames {
    const data = new Map<string, string>();
    for (const entry of this.catalog.entries()) {
      if (!matches(entry, type)) continue;
      const serving = this.serving(entry);
      if (!serving) continue;
      for (const name of of(entry)) if (!data.has(name)) data.set(name, serving.id);
    }
    return { object: 'list', type, data: Object.fromEntries(data) };
  }

  private serving(entry: CatalogEntry | undefined): CatalogEntry | undefined {
    if (!entry) return undefined;
    const now = Date.now();
    if (!isRemoved(entry.deprecation, now)) return entry;
    const models: NamedModels<CatalogEntry> = this.catalog.ofType(entry.type);
    const model = models.find(entry.id);
    return model && servingModel(model, models, now);
  }
}

/** All clients of Anthropic's API send this header. */
const isAnthropic = (headers: FastifyRequest['headers']): boolean =>
  headers['anthropic-version'] !== undefined;

function matches(entry: CatalogEntry, type: ModelQuery['type']): boolean {
  if (type === 'all') return true;
  if (type === 'code') return entry.type === 'text' && entry.capabilities.optimizedForCode;
  return entry.type === type;
}
