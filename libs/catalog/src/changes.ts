import type { CatalogEntry, CatalogFile } from '@svc/contracts/catalog';
import type { CharactersFile } from '@svc/api/characters';
import { modelNames, movesText, priceMoves, pricesText } from './prices.js';

/** What differs between two versions of a file, in words. */
export interface Changes {
  readonly prices: readonly string[];
  readonly models: readonly string[];
  readonly limits: readonly string[];
  readonly others: readonly string[];
}

/** Longer values are cut. */
const VALUE_CHARACTERS = 80;

/** Members of a catalogue and of its models that limit requests; all others are settings. */
const LIMITS =
  /(^tier |^otherLimits|^cryptoRpc limits|: (tier|globalLimits|contextTokens|maxCompletionTokens|maxInputTokens|maxSeconds|embeddingDimensions|constraints)\b|maxInFlight|maxBatch|credits)/;

/** Members of a model that are compared as names and prices. */
const COMPARED = new Set(['id', 'type', 'aliases', 'traits', 'pricing']);
const COMPARED_PARTS = new Set(['models', 'extras', 'confirmedPrices', 'tiers']);

export function catalogChanges(before: CatalogFile, after: CatalogFile): Changes {
  const differences = [
    ...leafChanges(partsOf(before), partsOf(after)),
    ...keptModels(before, after).flatMap(([old, model]) =>
      leafChanges(leaves(settingsOf(old), `${model.id}:`), leaves(settingsOf(model), `${model.id}:`)),
    ),
  ];
  return {
    prices: movesText(priceMoves(before, after)),
    models: modelChanges(before, after),
    limits: differences.filter((text) => LIMITS.test(text)),
    others: differences.filter((text) => !LIMITS.test(text)),
  };
}

export function charactersChanges(before: CharactersFile, after: CharactersFile): Changes {
  const bySlug = ({ characters }: CharactersFile) => new Map(characters.map((one) => [one.slug, one]));
  const [olds, news] = [bySlug(before), bySlug(after)];
  const added = [...news.keys()].filter((slug) => !olds.has(slug)).map((slug) => `${slug} is new`);
  const removed = [...olds.keys()].filter((slug) => !news.has(slug)).map((slug) => `${slug} is removed`);
  const changed = [...news].flatMap(([slug, one]) => {
    const old = olds.get(slug);
    return old ? leafChanges(leaves(old, `${slug}:`), leaves(one, `${slug}:`)) : [];
  });
  return { prices: [], models: [], limits: [], others: [...added, ...removed, ...changed] };
}

/** All changes as lines, those of prices first. */
export function linesOf({ prices, models, limits, others }: Changes): string[] {
  return [...prices, ...models, ...limits, ...others];
}

const keyOf = ({ type, id }: CatalogEntry): string => `${type} ${id.toLowerCase()}`;

const byKey = ({ models }: CatalogFile): Map<string, CatalogEntry> =>
  new Map(models.map((model) => [keyOf(model), model]));

function keptModels(before: CatalogFile, after: CatalogFile): [CatalogEntry, CatalogEntry][] {
  const olds = byKey(before);
  return after.models.flatMap((model) => {
    const old = olds.get(keyOf(model));
    return old ? [[old, model] as [CatalogEntry, CatalogEntry]] : [];
  });
}

function modelChanges(before: CatalogFile, after: CatalogFile): string[] {
  const [olds, news] = [byKey(before), byKey(after)];
  const added = [...news].flatMap(([key, model]) =>
    olds.has(key) ? [] : [`${model.id} is new, of type ${model.type}: ${pricesText(model)}`],
  );
  const removed = [...olds].flatMap(([key, { id }]) =>
    news.has(key) ? [] : [`${id} is removed; requests for it will be refused`],
  );
  const [oldNames, newNames] = [modelNames(before), modelNames(after)];
  const moved = [...oldNames].flatMap(([type, names]) =>
    [...names].flatMap(([name, { id: old }]) => {
      const now = newNames.get(type)?.get(name)?.id;
      if (name === old.toLowerCase() || now === old) return [];
      return now === undefined
        ? [`${name} is no longer a name of ${old}`]
        : [`${name} now means ${now}, not ${old}`];
    }),
  );
  const named = [...newNames].flatMap(([type, names]) =>
    [...names].flatMap(([name, { id }]) =>
      name === id.toLowerCase() || oldNames.get(type)?.has(name) ? [] : [`${name} is a new name of ${id}`],
    ),
  );
  return [...added, ...removed, ...moved, ...named];
}

const settingsOf = (model: CatalogEntry): object =>
  Object.fromEntries(Object.entries(model).filter(([name]) => !COMPARED.has(name)));

/** The parts of a catalogue in addition to its models and prices. */
function partsOf(file: CatalogFile): Leaves {
  const tiers = Object.entries(file.tiers).map(([tier, limits]) => leaves(limits, `tier ${tier}`));
  const others = Object.entries(file).filter(([name]) => !COMPARED_PARTS.has(name));
  return new Map([...tiers, ...others.map(([name, part]) => leaves(part, name))].flatMap((map) => [...map]));
}

type Leaves = ReadonlyMap<string, string>;

/** The values in an object by their paths. Members of lists are found by their names, not their positions. */
function leaves(value: unknown, path: string): Leaves {
  if (typeof value !== 'object' || value === null) return new Map([[path, JSON.stringify(value) ?? '']]);
  if (!Array.isArray(value))
    return new Map(Object.entries(value).flatMap(([name, member]) => [...leaves(member, `${path} ${name}`)]));
  if (value.every((member) => typeof member !== 'object' || member === null))
    return new Map([[path, JSON.stringify(value)]]);
  return new Map(
    value.flatMap((member, at) => [...leaves(member, `${path} ${nameOf(member) ?? String(at + 1)}`)]),
  );
}

function nameOf(member: unknown): string | undefined {
  if (typeof member !== 'object' || member === null) return undefined;
  for (const name of ['name', 'id']) {
    const value = (member as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

function leafChanges(before: Leaves, after: Leaves): string[] {
  const changed = [...after].flatMap(([path, value]) => {
    const old = before.get(path);
    if (old === value) return [];
    return [
      old === undefined
        ? `${path} is set to ${cut(value)}`
        : `${path} is ${cut(value)} instead of ${cut(old)}`,
    ];
  });
  const gone = [...before].flatMap(([path, old]) =>
    after.has(path) ? [] : [`${path} is no longer set; it was ${cut(old)}`],
  );
  return [...changed, ...gone];
}

const cut = (text: string): string =>
  text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS)}…` : text;
