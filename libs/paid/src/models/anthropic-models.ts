import type { AnthropicModel, AnthropicModelList } from '@svc/api/models';
import type { CatalogEntry } from '@svc/contracts/catalog';

/** Models as clients of Anthropic's API expect them, on one page. */
export function anthropicModelList(entries: readonly CatalogEntry[], nowMs: number): AnthropicModelList {
  const data = entries.map((entry) => anthropicModel(entry, nowMs));
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

export function anthropicModel(entry: CatalogEntry, nowMs: number): AnthropicModel {
  const { id, name, createdAt, deprecation } = entry;
  const isDeprecated = deprecation !== undefined && Date.parse(deprecation.date) <= nowMs;
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: timeOf(createdAt),
    max_input_tokens: entry.type === 'text' ? entry.contextTokens : null,
    max_tokens: entry.type === 'text' ? entry.maxCompletionTokens : null,
    lifecycle: isDeprecated ? 'deprecated' : 'active',
    deprecated_at: isDeprecated ? timeOf(deprecation.date) : null,
    retires_at: isDeprecated ? timeOf(deprecation.removesAt) : null,
    line: null,
    capabilities: null,
  };
}

const timeOf = (date: string): string => new Date(date).toISOString();
