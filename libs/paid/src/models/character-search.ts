import { createHash } from 'node:crypto';
import type { Character, CharacterQuery, CharacterView } from '@svc/api/characters';
import { Problem } from '@svc/contracts/problems';

/** Resolves the name of a model to its id. */
export type ModelIdOf = (name: string) => string;

/** One page of the characters that match a query, in its order. Ties keep the order of the file. */
export function searchCharacters(
  characters: readonly Character[],
  query: CharacterQuery,
  modelIdOf: ModelIdOf,
): Character[] {
  const direction = query.sortOrder === 'asc' ? 1 : -1;
  return characters
    .filter((character) => isRequested(character, query, modelIdOf))
    .map((character) => ({ character, ranks: ranksOf(character, query.sortBy) }))
    .toSorted((a, b) => direction * compare(a.ranks, b.ranks))
    .slice(query.offset, query.offset + query.limit)
    .map(({ character }) => character);
}

/** A character as clients see it, without its prompt and its author's name. */
export function characterView(character: Character, modelIdOf: ModelIdOf): CharacterView {
  const { slug, name, adult, featured, webEnabled, tags, stats } = character;
  return {
    id: slug,
    slug,
    name,
    description: character.description ?? null,
    author: createHash('sha256').update(character.author).digest('hex').slice(0, 5),
    adult,
    featured,
    webEnabled,
    modelId: modelIdOf(character.modelId),
    photoUrl: character.photoUrl ?? null,
    shareUrl: character.shareUrl ?? null,
    tags,
    stats: { averageRating: averageRating(character), ...stats, userRating: null },
    createdAt: new Date(character.createdAt).toISOString(),
    updatedAt: new Date(character.updatedAt ?? character.createdAt).toISOString(),
  };
}

/** `param` is the field of the request that named the character. */
export function characterNotFound(param: string): Problem {
  return new Problem('CHARACTER_NOT_FOUND', { param });
}

function isRequested(character: Character, query: CharacterQuery, modelIdOf: ModelIdOf): boolean {
  const { adult, pro, webEnabled, categories, tags } = character;
  const modelIds = query.modelId?.map(modelIdOf);
  return (
    isSwitched(adult, query.isAdult) &&
    isSwitched(pro, query.isPro) &&
    isSwitched(webEnabled, query.isWebEnabled) &&
    hasAny(categories, query.categories) &&
    hasAny(tags, query.tags) &&
    hasAny([modelIdOf(character.modelId)], modelIds) &&
    isFound(character, query.search)
  );
}

function isSwitched(value: boolean, filter: 'true' | 'false' | undefined): boolean {
  return filter === undefined || value === (filter === 'true');
}

/** An empty list means no filter. */
function hasAny(values: readonly string[], filter: readonly string[] = []): boolean {
  const wanted = new Set(filter.map((one) => one.toLowerCase()));
  return wanted.size === 0 || values.some((value) => wanted.has(value.toLowerCase()));
}

function isFound({ name, description, tags }: Character, search = ''): boolean {
  const wanted = search.toLowerCase();
  return [name, description ?? '', ...tags].some((text) => text.toLowerCase().includes(wanted));
}

/** The sort keys of a character, the most important first. */
function ranksOf(character: Character, sortBy: CharacterQuery['sortBy']): readonly number[] {
  const { featured, stats, createdAt } = character;
  switch (sortBy) {
    case 'featured':
      return [Number(featured)];
    case 'highestRating':
      return [averageRating(character)];
    case 'highlyRated':
      return [weighedRating(character)];
    case 'highlyRatedAndRecent':
      return [Number(averageRating(character) >= 4), Date.parse(createdAt)];
    case 'imports':
      return [stats.imports];
    case 'mostRecent':
      return [Date.parse(createdAt)];
    case 'ratingCount':
      return [stats.ratingCount];
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, rank] of a.entries()) {
    const difference = rank - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function averageRating({ stats }: Character): number {
  return stats.ratingCount === 0 ? 0 : stats.ratingSum / stats.ratingCount;
}

/** The average with five mediocre ratings added, so that one top rating does not outrank many good ones. */
function weighedRating({ stats }: Character): number {
  return (stats.ratingSum + 5 * 3) / (stats.ratingCount + 5);
}
