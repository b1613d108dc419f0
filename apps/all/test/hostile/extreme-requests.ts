import type { Random } from '../random.js';

type Fields = Readonly<Record<string, unknown>>;

/** The parts of an OpenAPI 3.1 schema that this module uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly contentEncoding?: string;
  readonly examples?: readonly unknown[];
  readonly example?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Fields;
}

/** The parts of the published description that this module uses. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface ExtremeRequest {
  readonly method: string;
  /** With its query, without the base URL of the API. */
  readonly path: string;
  readonly body?: string;
  /** The path of a value that is just beyond a bound; it must be refused. */
  readonly beyond: readonly string[];
  /** The statuses that the description lists for it. */
  readonly statuses: readonly string[];
}

/** The share of values that are just beyond a bound. */
const BEYOND = 0.04;
const OPTIONAL = 0.25;
const DEEPEST = 8;
const LONGEST = 2_000_000;
/** Longer bodies are refused for their size, which tests nothing about their values. */
const BODY_CHARS = 8_000_000;
/** Longer ones are refused for the length of the URL. */
const QUERY_CHARS = 3_000;
const PATH_CHARS = 1_000;

/** Used if the schema has no bound. */
const LENGTHS = [0, 1, 2, 255, 256, 257, 4_096, 65_536];
const COUNTS = [0, 1, 2, 3, 17, 256];
const NUMBERS = [0, -0, 1, -1, 0.5, 1e-7, 1e21, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, -(2 ** 53 - 1)];
const CHARACTERS = ['a', ' ', '"', '\\', '\u0000', 'é', '字', '👾', '\u202e', '%', '\n'];
const TIMES = ['1970-01-01', '2000-02-29', '0001-01-01', '9999-12-31', '2026-06-30'];

/** Generates unusual requests that a schema allows, and requests just beyond one of its bounds. */
export class ExtremeRequests {
  private readonly operations: readonly { method: string; path: string; operation: Operation }[];
  private beyond: string[] = [];
  private at = 0;

  constructor(
    private readonly description: Description,
    private readonly random: Random,
  ) {
    this.operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );
  }

  /** Each operation in turn; every second request is for the one with the largest body. */
  next(): ExtremeRequest {
    const chat = this.operations.find(({ path }) => path === '/chat/completions');
    const turn = this.operations[Math.floor(this.at / 2) % this.operations.length];
    const chosen = this.at++ % 2 === 0 ? chat : turn;
    if (!chosen) throw new Error('nothing is described');
    const { method, path, operation } = chosen;
    this.beyond = [];
    const target = this.target(path, operation.parameters ?? []);
    const schema = operation.requestBody?.content['application/json']?.schema;
    const text = schema && (JSON.stringify(this.value(schema, 'body', 0)) ?? 'null');
    const isShort = text !== undefined && text.length <= BODY_CHARS;
    return {
      method,
      path: target,
      ...(isShort && { body: text }),
      // A request without a required body tests only the missing body.
      beyond: text === undefined || isShort ? this.beyond : ['body'],
      statuses: Object.keys(operation.responses),
    };
  }

  private target(path: string, parameters: readonly Parameter[]): string {
    let target = path;
    const query = new URLSearchParams();
    for (const { name, in: place, required, schema = {} } of parameters) {
      if (place === 'path') {
        const text = String(this.value(schema, name, 0));
        // An empty segment, or one of dots, is another path.
        const sent = /^\.*$/.test(text) ? 'x' : text.slice(0, PATH_CHARS);
        if (sent !== text) this.keepWithin(name);
        target = target.replace(`{${name}}`, encodeURIComponent(sent.toWellFormed()));
      } else if (place === 'query' && (required || this.random.chance(OPTIONAL))) {
        const value = this.value(schema, name, 0);
        const items = (Array.isArray(value) ? value : [value]).map(String);
        // Empty items are ignored.
        const sent = items.map((item) => item.trim() || 'x');
        const text = Array.isArray(value) ? sent.join() : String(value);
        const isSent = text.length <= QUERY_CHARS;
        if (isSent) query.set(name, text.toWellFormed());
        if (!isSent || (Array.isArray(value) && items.includes(''))) this.keepWithin(name);
      }
    }
    const text = query.toString();
    return text === '' ? target : `${target}?${text}`;
  }

  private value(schema: Schema, path: string, depth: number): unknown {
    if (schema.$ref !== undefined) return this.value(this.resolved(schema.$ref), path, depth);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return this.value(this.random.pick(choices), path, depth);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return this.isBeyond(path) ? 'none of these' : this.random.pick(schema.enum);
    const type = typeof schema.type === 'object' ? this.random.pick(schema.type) : schema.type;
    switch (type) {
      case 'string':
        return this.text(schema, path);
      case 'integer':
      case 'number':
        return this.number(schema, type, path);
      case 'boolean':
        return this.random.chance(0.5);
      case 'null':
        return null;
      case 'array':
        return this.list(schema, path, depth);
      case 'object':
        return this.object(schema, path, depth);
      case undefined:
      default:
        return this.random.pick([null, 0, '', 'x', [], {}]);
    }
  }

  private text(
    { format, pattern, contentEncoding, minLength = 0, maxLength, ...schema }: Schema,
    path: string,
  ): string {
    const example = schema.example ?? schema.examples?.[0];
    if (format === 'uuid') return this.isBeyond(path) ? 'no-uuid' : crypto.randomUUID();
    if (format === 'date') return this.random.pick(TIMES);
    if (format === 'date-time') return `${this.random.pick(TIMES)}T23:59:59.999Z`;
    // No requests to other hosts.
    if (format === 'uri')
      return this.random.pick(['data:,', 'data:text/plain;base64,YQ==', 'http://127.0.0.1:1/x']);
    if (contentEncoding === 'base64') return 'A'.repeat(4 * this.random.pick([0, 1, 1_000, 100_000]));
    if (pattern !== undefined)
      return this.isBeyond(path) ? '\u0000' : typeof example === 'string' ? example : '';
    const isFew = maxLength === undefined || maxLength > LONGEST;
    if (minLength > 0 && this.isBeyond(path)) return 'a'.repeat(minLength - 1);
    if (isFew) return this.random.pick(CHARACTERS).repeat(Math.max(minLength, this.random.pick(LENGTHS)));
    if (this.isBeyond(path)) return 'a'.repeat(maxLength + 1);
    // Characters of one UTF-16 unit each, so that a length means the same to every validator.
    return this.random
      .pick(['a', 'é', ' '])
      .repeat(this.random.pick([minLength, maxLength, Math.max(minLength, maxLength - 1)]));
  }

  private number(schema: Schema, type: string, path: string): number {
    const step = type === 'integer' ? 1 : 1e-6;
    const least =
      schema.minimum ?? (schema.exclusiveMinimum === undefined ? undefined : schema.exclusiveMinimum + step);
    const most =
      schema.maximum ?? (schema.exclusiveMaximum === undefined ? undefined : schema.exclusiveMaximum - step);
    if (least !== undefined && Number.isSafeInteger(least - 1) && this.isBeyond(path)) return least - 1;
    if (most !== undefined && Number.isSafeInteger(most + 1) && this.isBeyond(path)) return most + 1;
    // Beyond 2^51 no double has a fraction of one half.
    if (type === 'integer' && this.isBeyond(path)) return Math.max(least ?? 0, -(2 ** 50)) + 0.5;
    const fits = (value: number): boolean =>
      value >= (least ?? -Infinity) &&
      value <= (most ?? Infinity) &&
      (type === 'number' || Number.isSafeInteger(value));
    return (
      this.random.pick([least, most, ...NUMBERS].filter((value) => value !== undefined && fits(value))) ?? 0
    );
  }

  private list({ items = {}, minItems = 0, maxItems }: Schema, path: string, depth: number): unknown[] {
    const bound = maxItems ?? Number.POSITIVE_INFINITY;
    const wanted = depth > 2 ? this.random.pick([0, 1, 2]) : this.random.pick(COUNTS);
    let count = Math.min(bound, Math.max(minItems, wanted));
    if (maxItems !== undefined && maxItems < 1_000 && this.isBeyond(path)) count = maxItems + 1;
    else if (minItems > 0 && this.isBeyond(path)) count = minItems - 1;
    return Array.from({ length: count }, (_, at) => this.value(items, `${path}.${at}`, depth + 1));
  }

  private object(
    { properties = {}, required = [], additionalProperties }: Schema,
    path: string,
    depth: number,
  ): Fields {
    const entries: [string, unknown][] = [];
    for (const [name, schema] of Object.entries(properties)) {
      const isRequired = required.includes(name);
      if (isRequired && this.isBeyond(`${path}.${name}`)) continue;
      if (isRequired || (depth < DEEPEST && this.random.chance(OPTIONAL)))
        entries.push([name, this.value(schema, `${path}.${name}`, depth + 1)]);
    }
    if (additionalProperties === false && this.isBeyond(`${path}.unknown`)) entries.push(['x_unknown', 1]);
    if (typeof additionalProperties === 'object' && this.random.chance(OPTIONAL))
      entries.push(['x', this.value(additionalProperties, `${path}.x`, depth + 1)]);
    return Object.fromEntries(entries);
  }

  /** Whether this value is to be beyond a bound. There is only one such value in a request. */
  private isBeyond(path: string): boolean {
    if (this.beyond.length > 0 || !this.random.chance(BEYOND)) return false;
    this.beyond.push(path);
    return true;
  }

  /** A parameter that is not sent as it was generated is not beyond a bound. */
  private keepWithin(name: string): void {
    this.beyond = this.beyond.filter((at) => at !== name && !at.startsWith(`${name}.`));
  }

  private resolved(reference: string): Schema {
    const schema = this.description.components?.schemas?.[reference.replace('#/components/schemas/', '')];
    if (!schema) throw new Error(`${reference} is not described`);
    return schema;
  }
}
