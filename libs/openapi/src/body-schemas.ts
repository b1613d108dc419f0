import { type JsonObject, isObject } from './json-schema.js';

/** What a body cannot contain: JSON has no files, and forms have no null. */
type Absent = 'file' | 'null';

/** The schema of a body without values that it cannot contain, and without members that have no others. */
export function withoutAbsent(schema: JsonObject, absent: Absent): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === 'properties' && isObject(value)) return [keyword, membersOf(value, absent)];
    if (keyword === 'items' && isObject(value)) return [keyword, withoutAbsent(value, absent)];
    if (absent === 'file' || !Array.isArray(value)) return [keyword, value];
    if (keyword === 'enum') return [keyword, value.filter((each) => each !== null)];
    if (keyword !== 'type') return [keyword, value];
    const types = value.filter((type) => type !== 'null') as unknown[];
    return [keyword, types.length === 1 ? types[0] : types];
  });
  const { anyOf, ...rest } = Object.fromEntries(entries);
  if (!Array.isArray(anyOf)) return rest;
  const options = (anyOf as JsonObject[])
    .filter((option) => !isAbsent(option, absent))
    .map((option) => withoutAbsent(option, absent));
  return options.length === 1 ? { ...options[0], ...rest } : { ...rest, anyOf: options };
}

function membersOf(properties: JsonObject, absent: Absent): JsonObject {
  const kept = Object.entries(properties as Record<string, JsonObject>).filter(
    ([, member]) => !isAbsent(member, absent),
  );
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutAbsent(member, absent)]));
}

const isAbsent = ({ type, format }: JsonObject, absent: Absent): boolean =>
  absent === 'file' ? format === 'binary' : type === 'null';
