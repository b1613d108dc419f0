import { isObject } from '../request/chat-request.js';
import type { JsonRecord } from '../request/chat-request.js';
import { samplePattern } from './pattern-sample.js';
import { phrase } from './prose.js';
import type { Random } from '../random.js';
import { formatted, named } from './value-sample.js';

/** Beyond this depth optional properties and items are left out, so that recursive schemas end. */
const LEAN_DEPTH = 5;
const MAX_DEPTH = 40;

interface Source {
  readonly random: Random;
  readonly root: unknown;
  /** The text whose words decide between enum values. */
  readonly hint: string;
}

/**
 * A value that is valid for the JSON schema, deterministic for the random source. Supports type, enum, const,
 * properties, required, items, prefixItems, anyOf, oneOf, allOf, local $ref, bounds, lengths, formats and
 * simple patterns. `hint` is the user's text: an enum value or place named in it is preferred.
 */
export function sampleSchema(schema: unknown, random: Random, hint = ''): unknown {
  return sample(schema, { random, root: schema, hint: hint.toLowerCase() }, { name: '', depth: 0 });
}

interface Place {
  readonly name: string;
  readonly depth: number;
}

function sample(given: unknown, source: Source, place: Place): unknown {
  if (!isObject(given) || place.depth > MAX_DEPTH) return given === true ? phrase(source.random, 2) : null;
  const schema = resolve(given, source, place.depth);
  if ('const' in schema) return schema['const'];
  const options = schema['enum'];
  if (Array.isArray(options) && options.length > 0) return pickEnum(options, source);
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches) && branches.length > 0) {
    const { anyOf: _anyOf, oneOf: _oneOf, ...base } = schema;
    const branch: unknown = pickBranch(branches, place.depth, source);
    return sample(isObject(branch) ? merge(base, branch) : branch, source, {
      ...place,
      depth: place.depth + 1,
    });
  }
  switch (typeOf(schema, place.depth)) {
    case 'object':
      return sampleObject(schema, source, place);
    case 'array':
      return sampleArray(schema, source, place);
    case 'integer':
      return sampleNumber(schema, source.random, true);
    case 'number':
      return sampleNumber(schema, source.random, false);
    case 'boolean':
      return source.random.next() < 0.5;
    case 'null':
      return null;
    default:
      return sampleString(schema, source, place.name);
  }
}

/** Follows local references and merges `allOf` into the schema. */
function resolve(schema: JsonRecord, source: Source, depth: number): JsonRecord {
  let current = schema;
  for (let i = 0; i < MAX_DEPTH && typeof current['$ref'] === 'string'; i++) {
    const { $ref: pointer, ...rest } = current;
    const target = lookUp(source.root, String(pointer));
    current = merge(isObject(target) ? target : {}, rest);
  }
  const parts = current['allOf'];
  if (!Array.isArray(parts) || depth > MAX_DEPTH) return current;
  const { allOf: _, ...base } = current;
  return parts
    .filter(isObject)
    .map((part) => resolve(part, source, depth + 1))
    .reduce(merge, base);
}

function lookUp(root: unknown, pointer: string): unknown {
  let target = root;
  for (const step of pointer.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue;
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    target = Array.isArray(target) ? target[Number(key)] : isObject(target) ? target[key] : undefined;
  }
  return target;
}

function merge(left: JsonRecord, right: JsonRecord): JsonRecord {
  const merged: { [key: string]: unknown } = { ...left, ...right };
  const [a, b] = [left['properties'], right['properties']];
  if (isObject(a) && isObject(b)) merged['properties'] = { ...a, ...b };
  const required = [...namesAt(left, 'required'), ...namesAt(right, 'required')];
  if (required.length > 0) merged['required'] = [...new Set(required)];
  return merged;
}

function pickEnum(options: readonly unknown[], source: Source): unknown {
  const mentioned = options.find(
    (option) => typeof option === 'string' && option !== '' && source.hint.includes(option.toLowerCase()),
  );
  return mentioned ?? source.random.pick(options);
}

/** Near the depth limit, prefers a branch without structure; otherwise the first that is not null. */
function pickBranch(branches: readonly unknown[], depth: number, source: Source): unknown {
  const types = branches.map((branch) =>
    isObject(branch) ? typeOf(resolve(branch, source, depth), depth) : 'null',
  );
  const leaf = types.findIndex((type) => type !== 'object' && type !== 'array');
  if (depth >= LEAN_DEPTH && leaf >= 0) return branches[leaf];
  const first = types.findIndex((type) => type !== 'null');
  return branches[Math.max(first, 0)];
}

function typeOf(schema: JsonRecord, depth: number): string {
  const type = schema['type'];
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    if (depth >= LEAN_DEPTH && type.includes('null')) return 'null';
    return String(type.find((item) => item !== 'null') ?? 'null');
  }
  if ('properties' in schema || 'required' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('minimum' in schema || 'maximum' in schema || 'multipleOf' in schema) return 'number';
  return Array.isArray(schema['anyOf'] ?? schema['oneOf']) ? 'object' : 'string';
}

function sampleObject(schema: JsonRecord, source: Source, place: Place): JsonRecord {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = namesAt(schema, 'required');
  const isLean = place.depth >= LEAN_DEPTH;
  const value: { [key: string]: unknown } = {};
  const names = [...Object.keys(properties), ...required.filter((name) => !(name in properties))];
  for (const name of names) {
    if (properties[name] === false || (isLean && !required.includes(name))) continue;
    const inner = properties[name] ?? schema['additionalProperties'] ?? {};
    value[name] = sample(inner, source, { name, depth: place.depth + 1 });
  }
  const least = numberAt(schema, 'minProperties') ?? 0;
  const extra = schema['additionalProperties'];
  for (let i = 1; Object.keys(value).length < least; i++) {
    value[`key${i}`] = sample(isObject(extra) ? extra : {}, source, {
      name: `key${i}`,
      depth: place.depth + 1,
    });
  }
  return value;
}

function sampleArray(schema: JsonRecord, source: Source, place: Place): unknown[] {
  const prefix: unknown[] = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
  const least = numberAt(schema, 'minItems') ?? 0;
  const most = numberAt(schema, 'maxItems') ?? Number.POSITIVE_INFINITY;
  const wished =
    place.depth >= LEAN_DEPTH
      ? 0
      : Math.max(prefix.length, schema['items'] === false ? 0 : source.random.whole(1, 3));
  const length = Math.min(Math.max(wished, least), most);
  const values: unknown[] = [];
  const seen = new Set<string>();
  // A few spare attempts, since `uniqueItems` may reject some.
  for (let tries = 0; values.length < length && tries < length * 8 + 8; tries++) {
    const item = sample(prefix[values.length] ?? schema['items'] ?? {}, source, {
      name: place.name,
      depth: place.depth + 1,
    });
    const key = JSON.stringify(item);
    if (schema['uniqueItems'] === true && seen.has(key)) continue;
    seen.add(key);
    values.push(item);
  }
  return values;
}

function sampleNumber(schema: JsonRecord, random: Random, isWhole: boolean): number {
  const step = numberAt(schema, 'multipleOf') ?? (isWhole ? 1 : 0.01);
  const above = numberAt(schema, 'exclusiveMinimum');
  const below = numberAt(schema, 'exclusiveMaximum');
  const low =
    numberAt(schema, 'minimum') ?? above ?? Math.min(1, (numberAt(schema, 'maximum') ?? below ?? 100) - 1);
  const high = Math.max(numberAt(schema, 'maximum') ?? below ?? low + 100, low);
  let first = Math.ceil(low / step);
  let last = Math.floor(high / step);
  if (above !== undefined && first * step <= above) first++;
  if (below !== undefined && last * step >= below) last--;
  // In a range narrower than a step, the middle is the only sensible value.
  if (last < first) return isWhole ? Math.ceil(low) : (low + high) / 2;
  const value = random.whole(first, last) * step;
  return isWhole ? Math.round(value) : Number(value.toPrecision(12));
}

function sampleString(schema: JsonRecord, source: Source, name: string): string {
  const pattern = schema['pattern'];
  if (typeof pattern === 'string') return samplePattern(pattern, source.random);
  const format = schema['format'];
  const special = typeof format === 'string' ? formatted(format, source.random) : undefined;
  const least = numberAt(schema, 'minLength') ?? 0;
  const most = numberAt(schema, 'maxLength') ?? Number.POSITIVE_INFINITY;
  if (special !== undefined) return special;
  let text = named(name, source.hint) ?? phrase(source.random, 3);
  while (text.length < least) text += ` ${phrase(source.random, 3)}`;
  return text.slice(0, Math.max(least, Math.min(most, text.length)));
}

function namesAt(schema: JsonRecord, key: string): string[] {
  const value = schema[key];
  return Array.isArray(value) ? value.map(String) : [];
}

function numberAt(schema: JsonRecord, key: string): number | undefined {
  const value = schema[key];
  return typeof value === 'number' ? value : undefined;
}
