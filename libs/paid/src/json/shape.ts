/** The objects and the list that a JSON value may be. Without a shape nothing is known of a value. */
export interface Shape {
  readonly objects: readonly ObjectShape[];
  readonly items: Shape | undefined;
}

export interface ObjectShape {
  /** The member that distinguishes several objects, and the values that identify this one. */
  readonly tag: { readonly name: string; readonly values: ReadonlySet<unknown> } | undefined;
  readonly members: ReadonlyMap<string, MemberShape>;
  readonly keepsUnknown: boolean;
}

export interface MemberShape {
  readonly shape: Shape | undefined;
  /** Whether null means the same as leaving the member out. */
  readonly nullIsNothing: boolean;
  /** Whether an empty list means the same as leaving the member out. */
  readonly emptyIsNothing?: boolean;
}

/** A name as a case-insensitive decoder compares it; `ſ` and the Kelvin sign become `s` and `k`. */
export function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/**
 * The shape of an object: one whose tag matches and that knows all its members. The value has already been
 * validated, so it has no members of other shapes.
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
