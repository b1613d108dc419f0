import { type JsonObject, isObject, schemaRef } from './json-schema.js';

/**
 * Turns every object in a union into a component, named after its discriminator and its place, such as
 * `TextContentPart`. Client generators invent names for unnamed schemas, and may use one twice.
 */
export function withNamedMembers(schemas: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  const named = new NamedMembers(schemas);
  for (const [name, schema] of Object.entries(schemas))
    named.schemas[name] = named.hoist(schema, name) as JsonObject;
  // Schemas processed before an equal one got its name.
  for (const [name, schema] of Object.entries(named.schemas))
    named.schemas[name] = named.refer(schema, true) as JsonObject;
  return named.schemas;
}

class NamedMembers {
  readonly schemas: Record<string, JsonObject>;
  /** The names of components, by their content. */
  private readonly names = new Map<string, string>();

  constructor(schemas: Readonly<Record<string, JsonObject>>) {
    this.schemas = { ...schemas };
  }

  /** `place` is the nearest name on the path: of a property or of a component. */
  hoist(value: unknown, place: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.hoist(item, place));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
      if (key === 'properties' && isObject(inner)) return [key, this.hoistProperties(inner)];
      if (key === 'oneOf' && Array.isArray(inner)) return [key, inner.map((one) => this.member(one, place))];
      return [key, this.hoist(inner, place)];
    });
    return Object.fromEntries(entries);
  }

  /** Replaces schemas that have a name by now with references. */
  refer(value: unknown, isTop = false): unknown {
    if (Array.isArray(value)) return value.map((item) => this.refer(item));
    if (!isObject(value)) return value;
    const name = isTop ? undefined : this.names.get(JSON.stringify(value));
    if (name !== undefined) return schemaRef(name);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.refer(inner)]));
  }

  private hoistProperties(properties: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, this.hoist(schema, pascal(name))]),
    );
  }

  private member(one: unknown, place: string): unknown {
    const inner = this.hoist(one, place);
    if (!isObject(inner) || typeof inner['title'] !== 'string' || !isObject(inner['properties']))
      return inner;
    const { title, ...schema } = inner as JsonObject & { title: string };
    const text = JSON.stringify(schema);
    const name = this.names.get(text) ?? this.freeName(pascal(title) + place);
    this.names.set(text, name);
    this.schemas[name] = schema;
    return schemaRef(name);
  }

  private freeName(name: string): string {
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? name : `${name}${number}`;
      if (!this.schemas[candidate]) return candidate;
    }
  }
}

/** `image_url` as `ImageUrl`. */
function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
