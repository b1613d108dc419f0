/** What is known of a JSON value: the objects and the list that it may be. Nothing is known of what has no shape. */
export interface Shape {
  readonly objects: readonly ObjectShape[];
  readonly items: Shape | undefined;
}

export interface ObjectShape {
  /** The member that tells several objects apart, and what it says. */
  readonly tag: { readonly name: string; readonly values: ReadonlySet<unknown> } | undefined;
  readonly members: ReadonlyMap<string, MemberShape>;
  readonly keepsUnknown: boolean;
}

export interface MemberShape {
  readonly shape: Shape | undefined;
  /** Whether null says no more than leaving it out. */
  readonly nullIsNothing: boolean;
}

/** What a decoder that ignores case makes of a name; `ſ` and the Kelvin sign become `s` and `k`. */
export function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/**
 * The object that a value is: one that has its tag, and knows all its members. The value is what a schema made of it,
 * so it has no others.
 */
export function objectShapeOf({ objects }: Shape, value: unknown): ObjectShape | undefined {
  const [first, ...others] = objects;
  if (!first || others.length === 0) return first;
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  const tagged = objects.filter(({ tag }) => tag?.values.has(fields[tag.name]));
  const candidates = tagged.length > 0 ? tagged : objects;
  const names = Object.keys(fields);
  return (
    candidates.find(
      ({ members, keepsUnknown }) => keepsUnknown || names.every((name) => members.has(name)),
    ) ?? candidates[0]
  );
}
