import { type JsonObject, isObject } from './json-schema.js';

/** An operation of a document, reduced to its responses. */
interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, JsonObject>;
}

/** A part of an operation, by its name in the record that holds it. */
interface Part {
  readonly operationId: string;
  readonly holder: Record<string, JsonObject>;
  readonly key: string;
  /** The name of its component, unless another one has it. */
  readonly name: string;
}

/** The parts that several operations share, by name. */
export interface SharedParts {
  readonly responses: Record<string, JsonObject>;
  readonly examples: Record<string, JsonObject>;
}

/**
 * Moves the examples and then the responses that several operations share into components, and refers to
 * them. An example is named after its error code and a response after its status; where different ones would
 * have the same name, the name of the first operation that has it is added: `Error404`, `Error404OfGetModel`.
 */
export function shareParts(operations: readonly Operation[]): SharedParts {
  const examples = shared('examples', operations.flatMap(examplesOf));
  const responses = shared(
    'responses',
    operations.flatMap(({ operationId, responses: holder }) =>
      Object.keys(holder).map((key) => ({ operationId, holder, key, name: `Error${key}` })),
    ),
  );
  return { responses, examples };
}

/** The examples of errors. */
function examplesOf({ operationId, responses }: Operation): Part[] {
  const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const contents = errors.flatMap(([, { content }]) =>
    Object.values((content ?? {}) as Record<string, JsonObject>),
  );
  return contents.flatMap((media) => {
    const holder = media['examples'] as Record<string, JsonObject> | undefined;
    return holder ? Object.keys(holder).map((key) => ({ operationId, holder, key, name: key })) : [];
  });
}

function shared(kind: keyof SharedParts, parts: readonly Part[]): Record<string, JsonObject> {
  const uses = Map.groupBy(parts, ({ name, holder, key }) => `${name} ${JSON.stringify(holder[key])}`);
  const found: Record<string, JsonObject> = {};
  for (const [first, ...others] of uses.values()) {
    const value = first?.holder[first.key];
    if (!first || !value || others.length === 0) continue;
    const { name: plain, operationId } = first;
    const name = Object.hasOwn(found, plain)
      ? `${plain}Of${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`
      : plain;
    found[name] = value;
    for (const { holder, key } of [first, ...others]) holder[key] = { $ref: `#/components/${kind}/${name}` };
  }
  return found;
}

/** A part of a document, whether inline or shared. */
export function resolvePart<Value>(document: unknown, value: Value | { readonly $ref: string }): Value {
  if (!isObject(value) || typeof value['$ref'] !== 'string') return value as Value;
  const [, , kind = '', name = ''] = value['$ref'].split('/');
  const { components } = document as { components: Record<string, Record<string, Value>> };
  const found = components[kind]?.[name];
  if (found === undefined) throw new RangeError(`${value['$ref']} points to nothing`);
  return found;
}
