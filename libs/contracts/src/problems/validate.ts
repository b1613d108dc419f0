import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { type Issue, Problem } from './problem.js';
import { insteadIn, isAboutMissing, oneOf, unionOf, usePlainWords } from './validator-words.js';

usePlainWords();

/** The value as parsed by its schema; throws the detailed INVALID_REQUEST that names every faulty field. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidRequest(result.error.issues);
}

/** How long one part may be checked before yielding to the event loop. */
const TURN_MS = 4;

/**
 * The same for a large object, without blocking the event loop: its members, and the elements of its lists,
 * are checked one by one until enough faults are found. A value without faults is parsed quickly as a whole
 * at the end.
 */
export async function validateInSlices<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
): Promise<z.infer<Schema>> {
  const issues: RawIssue[] = [];
  let turnEndsMs = performance.now() + TURN_MS;
  for (const { part, given, path } of partsOf(schema, value)) {
    const result = part.safeParse(given);
    if (!result.success)
      issues.push(...result.error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
    if (issues.length >= ISSUES_AT_MOST) break;
    if (performance.now() < turnEndsMs) continue;
    await turn();
    turnEndsMs = performance.now() + TURN_MS;
  }
  if (issues.length > 0) throw invalidRequest(issues);
  await turn();
  return validate(schema, value);
}

interface Part {
  readonly part: z.ZodType;
  readonly given: unknown;
  readonly path: readonly (string | number)[];
}

/**
 * The members of a value that its schema knows; for a list first its size and then, if that is valid, its
 * elements.
 */
function* partsOf(schema: z.ZodObject, value: unknown): Generator<Part> {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries<z.ZodType>(schema.shape)) {
    const given = (value as Readonly<Record<string, unknown>>)[name];
    const whole = elementsIn(unwrapped(member), given);
    if (!whole) {
      yield { part: member, given, path: [name] };
      continue;
    }
    const size = sizeOf(whole);
    yield { part: size, given, path: [name] };
    if (!size.safeParse(given).success) continue;
    for (const { part, given: element, path } of elementsOf(whole, given as object))
      yield { part, given: element, path: [name, ...path] };
  }
}

/** The schema, if it has elements and the value may have some. */
function elementsIn(schema: unknown, given: unknown): z.ZodArray | z.ZodRecord | undefined {
  if (schema instanceof z.ZodArray) return Array.isArray(given) ? schema : undefined;
  return schema instanceof z.ZodRecord && isObject(given) ? schema : undefined;
}

function* elementsOf(schema: z.ZodArray | z.ZodRecord, given: object): Generator<Part> {
  if (schema instanceof z.ZodArray) {
    const part = schema.element as z.ZodType;
    for (const [index, element] of (given as readonly unknown[]).entries())
      yield { part, given: element, path: [index] };
    return;
  }
  const part = z.record(schema.keyType, schema.valueType);
  for (const [name, member] of Object.entries(given as Readonly<Record<string, unknown>>))
    yield { part, given: { [name]: member }, path: [] };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The checks of a schema other than those of its elements. */
const sizeOf = ({ def: { checks = [] } }: z.ZodArray | z.ZodRecord): z.ZodType =>
  z.unknown().check(...(checks as z.core.$ZodCheck<unknown>[]));

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap())
    : schema;
}

interface RawIssue {
  readonly code?: string | undefined;
  readonly path?: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: unknown;
  /** For literals and enums. */
  readonly values?: readonly unknown[];
  /** For unknown members. */
  readonly keys?: readonly string[];
  /** For a union: the issues of each option. */
  readonly errors?: readonly (readonly RawIssue[])[];
}

/** More would help nobody, and each is sent twice. */
const ISSUES_AT_MOST = 100;

/** The detailed error for the issues of a validator, at most the first hundred. */
export function invalidRequest(raw: readonly RawIssue[]): Problem {
  const issues = raw
    .slice(0, ISSUES_AT_MOST)
    .flatMap(innermost)
    .flatMap(unknownMembers)
    .slice(0, ISSUES_AT_MOST)
    .map((issue): Issue => ({
      code: issue.code ?? 'custom',
      path: (issue.path ?? []).map((step) => (typeof step === 'number' ? step : String(step))),
      message: issue.message,
    }));
  const [first] = issues;
  const param = first?.path.join('.') || undefined;
  // Most clients print only the message, so it contains the first issue.
  const message = first && sentence(param, first.message);
  return new Problem('INVALID_REQUEST', { issues, param, message });
}

/** An unknown member has an issue of its own, whose path names it. */
function unknownMembers(issue: RawIssue): RawIssue[] {
  const { keys, path = [] } = issue;
  if (keys === undefined) return [issue];
  return keys.map((key) => ({ code: issue.code, path: [...path, key], message: 'is not a known field' }));
}

/** Most messages are the end of a sentence that begins with the name of the field. */
function sentence(param: string | undefined, message: string): string {
  if (/^(?:must|is|has) /.test(message)) return `${param ?? 'The request'} ${message}`;
  return param === undefined || message.startsWith(`${param} `) ? message : `${param}: ${message}`;
}

/** Replaces an issue of a union by those of the intended option, so that paths are the innermost ones. */
function innermost(issue: RawIssue): RawIssue[] {
  const { errors = [], path = [] } = issue;
  if (issue.code !== 'invalid_union' || errors.length === 0) return [issue];
  const options = errors.map((option) => option.flatMap(innermost));
  return (meant(options) ?? [mismatch(options)]).map((inner) => ({
    ...inner,
    path: [...path, ...(inner.path ?? [])],
  }));
}

/** The intended option: type and tag fit, it lacks the fewest members, and its fault is the deepest. */
function meant(options: readonly RawIssue[][]): RawIssue[] | undefined {
  const fitting = options.filter((option) => !option.some(isMismatch));
  const [best] = fitting.toSorted((a, b) => missing(a) - missing(b) || depth(b) - depth(a));
  return best;
}

/** Whether an option is for another kind of value: another type, word, `type` or `role`. */
function isMismatch({ code, path = [], values }: RawIssue): boolean {
  if (path.length === 0) return code === 'invalid_type' || code === 'invalid_value';
  return path.length === 1 && isTag(path[0]) && code === 'invalid_value' && values !== undefined;
}

const isTag = (name: PropertyKey | undefined): name is 'type' | 'role' => name === 'type' || name === 'role';

/** Whether an option is for another value of this tag. */
const differsBy =
  (tag: 'type' | 'role') =>
  (option: readonly RawIssue[]): boolean =>
    option.some((issue) => isMismatch(issue) && issue.path?.[0] === tag);

const missing = (option: readonly RawIssue[]): number =>
  option.filter(({ message }) => isAboutMissing(message)).length;

const depth = (option: readonly RawIssue[]): number =>
  Math.max(0, ...option.map(({ path = [] }) => path.length));

/** The issue if no option fits: all tags or all types that would. */
function mismatch(options: readonly RawIssue[][]): RawIssue {
  const found = options.flat().filter(isMismatch);
  const byRole = options.filter((option) => differsBy('role')(option) && !differsBy('type')(option));
  const [tag, tagged] = byRole.length > 0 ? (['role', byRole.flat()] as const) : (['type', found] as const);
  const tags = tagged.filter((issue) => isMismatch(issue) && issue.path?.[0] === tag);
  if (tags.length > 0) {
    const words = new Set(tags.flatMap(({ values = [] }) => values));
    return { code: 'invalid_value', path: [tag], message: oneOf([...words]) };
  }
  const word = found.find(({ code }) => code === 'invalid_value');
  if (word) return word;
  const types = new Set(found.map(({ expected }) => String(expected)));
  return {
    code: 'invalid_type',
    path: [],
    message: `${unionOf(types)}${insteadIn(found[0]?.message ?? '')}`,
  };
}
