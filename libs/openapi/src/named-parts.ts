import { MEMBERS } from '@svc/api/chat';
import { DATA_KEYWORDS, type JsonObject, isObject, schemaRef } from './json-schema.js';

/**
 * Turns every schema with a title, and every object in a union, into a component: named by its title, or
 * after its discriminator and its place, such as `TextContentPart`. Client generators invent names for
 * unnamed schemas, and may use one twice.
 */
export function withNamedParts(schemas: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  const named = new NamedParts(schemas);
  for (const [name, schema] of Object.entries(schemas)) named.schemas[name] = named.hoistWithin(schema, name);
  // Schemas processed before an equal one got its name.
  for (const [name, schema] of Object.entries(named.schemas))
    named.schemas[name] = named.refer(schema, true) as JsonObject;
  return named.schemas;
}

class NamedParts {
  readonly schemas: Record<string, JsonObject>;
  /** The names of components, by their content. */
  private readonly names = new Map<string, string>();

  constructor(schemas: Readonly<Record<string, JsonObject>>) {
    this.schemas = { ...schemas };
  }

  /** `place` is the nearest name on the path: of a property or of a component. */
  hoistWithin(schema: JsonObject, place: string): JsonObject {
    const { [MEMBERS]: suffix = place, ...rest } = schema as JsonObject & { [MEMBERS]?: string };
    const entries = Object.entries(rest).map(([key, inner]): [string, unknown] => {
      if (DATA_KEYWORDS.has(key)) return [key, inner];
      if (key === 'properties' && isObject(inner)) return [key, this.hoistProperties(inner)];
      if (key === 'oneOf' && Array.isArray(inner)) return [key, inner.map((one) => this.member(one, suffix))];
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

  private hoist(value: unknown, place: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.hoist(item, place));
    if (!isObject(value)) return value;
    const within = this.hoistWithin(value, place);
    const { title, description, ...schema } = within;
    if (typeof title !== 'string') return within;
    return { ...this.named(title, schema), ...(description !== undefined && { description }) };
  }

  private hoistProperties(properties: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, this.hoist(schema, pascal(name))]),
    );
  }

  private member(one: unknown, suffix: string): unknown {
    const inner = this.hoist(one, suffix);
    const constant = constantOf(inner);
    return isObject(inner) && constant !== undefined
      ? this.named(joinedName(pascal(constant), suffix), inner)
      : inner;
  }

  private named(name: string, schema: JsonObject): JsonObject {
    const text = JSON.stringify(schema);
    const known = this.names.get(text) ?? name;
    if (known === name && this.schemas[name] && JSON.stringify(this.schemas[name]) !== text)
      throw new Error(`two schemas are named ${name}: give one of them a title of its own`);
    this.names.set(text, known);
    this.schemas[known] = schema;
    return schemaRef(known);
  }
}

/** The constant by which the members of a union differ. */
function constantOf(schema: unknown): string | undefined {
  if (!isObject(schema) || !isObject(schema['properties'])) return undefined;
  const constants = Object.values(schema['properties']).flatMap((property) =>
    isObject(property) && typeof property['const'] === 'string' ? [property['const']] : [],
  );
  return constants[0];
}

/** `TextDelta` in `Delta` is `TextDelta`; `Tool` in `ToolChoice` is `ToolChoice`. */
function joinedName(name: string, place: string): string {
  const words = place.match(/[A-Z][a-z0-9]*/g) ?? [];
  const count = words.findLastIndex((_word, index) => name.endsWith(words.slice(0, index + 1).join('')));
  return name + words.slice(count + 1).join('');
}

/** `image_url` as `ImageUrl`. */
function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
