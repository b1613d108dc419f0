import { jsonElements, jsonMembers, jsonObject } from './json-members.js';

/**
 * A JSON value and its text, which are taken apart and put together as one. So a value moves to another place
 * with its bytes: numbers of any size, escapes, and the placeholders of long strings, which only the text
 * has. The value may be the output of a schema; members that the schema has dropped are not part of it.
 */
export interface JsonPart {
  readonly value: unknown;
  readonly text: string;
}

/** A value of this service's own. */
export function partOf(value: unknown): JsonPart {
  return { value, text: JSON.stringify(value) };
}

/** The members of an object; empty for any other value. */
export function membersOf({ value, text }: JsonPart): ReadonlyMap<string, JsonPart> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Map();
  const members = new Map<string, JsonPart>();
  for (const [name, each] of jsonMembers(text)) {
    const member = Object.getOwnPropertyDescriptor(value, name);
    if (member) members.set(name, { value: member.value, text: each });
  }
  return members;
}

/** The elements of a list; empty for any other value. */
export function elementsOf({ value, text }: JsonPart): JsonPart[] {
  if (!Array.isArray(value)) return [];
  const values = value as readonly unknown[];
  return jsonElements(text).map((each, index) => ({ value: values[index], text: each }));
}

/** An object of the members that are defined. */
export function objectPart(members: Iterable<readonly [string, JsonPart | undefined]>): JsonPart {
  const given = new Map<string, JsonPart>();
  for (const [name, part] of members) if (part) given.set(name, part);
  const texts = new Map(Array.from(given, ([name, { text }]) => [name, text]));
  return {
    value: Object.fromEntries(Array.from(given, ([name, { value }]) => [name, value])),
    text: jsonObject(texts),
  };
}

export function listPart(elements: readonly JsonPart[]): JsonPart {
  return {
    value: elements.map(({ value }) => value),
    text: `[${elements.map(({ text }) => text).join(',')}]`,
  };
}

/** Several strings as one. */
export function joinedStrings(strings: readonly JsonPart[], separator: string): JsonPart {
  return {
    value: strings.map(({ value }) => String(value)).join(separator),
    text: `"${strings.map(({ text }) => text.slice(1, -1)).join(JSON.stringify(separator).slice(1, -1))}"`,
  };
}

/** A string with text before it. */
export function prefixedPart(prefix: string, { value, text }: JsonPart): JsonPart {
  return { value: prefix + String(value), text: JSON.stringify(prefix).slice(0, -1) + text.slice(1) };
}
