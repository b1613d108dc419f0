import type { CatalogEntry } from '@svc/contracts/catalog';
import { looseName, looseNames, nearestName } from './model-names.js';

/** The models of one type, by each of their names. */
export class NamedModels<Model extends CatalogEntry> {
  private readonly byName = new Map<string, Model>();
  private readonly byLooseName: ReadonlyMap<string, Model | undefined>;

  /**
   * `list` is in catalogue order: a trait belongs to the first model that has it. `all` looks names up among
   * the models of every type.
   */
  constructor(
    readonly list: readonly Model[],
    private readonly all: (name: string) => CatalogEntry | undefined = () => undefined,
  ) {
    const { byName } = this;
    for (const model of list) {
      for (const trait of model.traits) if (!byName.has(trait)) byName.set(trait, model);
    }
    // An id or alias wins over a trait of the same name.
    for (const model of list)
      for (const name of [...model.aliases, model.id]) byName.set(name.toLowerCase(), model);
    this.byLooseName = looseNames(byName);
  }

  /** The model of each name: ids and aliases in lower case, and traits. */
  get names(): ReadonlyMap<string, Model> {
    return this.byName;
  }

  /** The model with this id, alias or trait, in any spelling. */
  find(name: string): Model | undefined {
    const exact = this.byName.get(name) ?? this.byName.get(name.toLowerCase());
    return exact ?? this.byLooseName.get(looseName(name));
  }

  /** The model of another type with this id or alias. Each type has its own traits. */
  ofOtherType(name: string): CatalogEntry | undefined {
    const other = this.all(name);
    return other?.traits.includes(name) ? undefined : other;
  }

  /** The closest model name, for a "did you mean". */
  suggest(name: string): string | undefined {
    const nearest = nearestName(name, this.byName.keys());
    const id = nearest === undefined ? undefined : this.byName.get(nearest)?.id;
    return id?.toLowerCase() === nearest ? id : nearest;
  }
}
