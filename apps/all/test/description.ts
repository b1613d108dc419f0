// The published OpenAPI descriptions, as validators of responses.
import { type OpenApiAudience, openApiDocument, resolvePart } from '@svc/openapi';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export interface Media {
  readonly schema: object;
}
interface Header {
  readonly required?: boolean;
  readonly schema: { readonly type: 'string' | 'integer' };
}
/** The bodies that a response may have, by their content type. */
type Content = Readonly<Record<string, Media>>;
interface Reply {
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: Content;
}
interface Operation {
  readonly responses: Readonly<Record<string, Reply | { readonly $ref: string }>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Headers of the connection and of the representation, which are defined by HTTP and not by OpenAPI. */
const OF_HTTP = new Set(['connection', 'content-length', 'content-type', 'keep-alive', 'transfer-encoding']);

/** Allowed statuses of a port for undescribed routes and methods. */
const NOT_OFFERED = new Set([404, 405]);
/** The caller is identified even for unknown paths and methods. */
const NOT_OFFERED_TO_CALLERS = new Set([...NOT_OFFERED, 429]);

export const NOT_OFFERED_CONTENT: Content = {
  'application/json': {
    schema: {
      $ref: '#/components/schemas/Error',
      properties: {
        code: { enum: ['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'RATE_LIMIT_EXCEEDED'] },
      },
    },
  },
};

/** What one port publishes. Vitest keeps this module for all files of a worker, with its compiled schemas. */
export class Description {
  private readonly paths: readonly { readonly pattern: RegExp; readonly methods: Paths[string] }[];
  private readonly headers: ReadonlyMap<string, Header>;
  private readonly ajv = new Ajv2020({ strict: false, inlineRefs: false });
  private readonly document: object;
  private readonly validators = new Map<object, ValidateFunction>();
  /** The texts of the named schemas that no response has needed yet. */
  private readonly uncompiled: Map<string, string>;

  constructor(
    audience: OpenApiAudience,
    private readonly base: string,
  ) {
    addFormats.default(this.ajv);
    const document = openApiDocument({ audience, version: '19700101.000000' });
    this.document = document;
    this.ajv.addSchema({ $id: 'document', ...document });
    const { headers, schemas } = document['components'] as {
      headers: Record<string, Header>;
      schemas: Record<string, object>;
    };
    this.uncompiled = new Map(Object.entries(schemas).map(([name, schema]) => [name, textOf(schema)]));
    this.headers = new Map(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]));
    // A literal path takes precedence over a matching one with parameters.
    this.paths = Object.entries(document['paths'] as Paths)
      .toSorted(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
      .map(([path, methods]) => ({ pattern: patternOf(path), methods }));
  }

  /**
   * The published description of a response. Without one: `not offered` if the status is allowed for an
   * undescribed route or method, otherwise `nothing`.
   */
  find(method: string, url: URL, status: number): Reply | 'not offered' | 'nothing' {
    const path = url.pathname.slice(this.base.length);
    const methods = this.paths.find(({ pattern }) => pattern.test(path))?.methods;
    const operation = methods?.[method.toLowerCase()];
    const notOffered = operation ? NOT_OFFERED : NOT_OFFERED_TO_CALLERS;
    const response = operation?.responses[status];
    if (response) return resolvePart(this.document, response);
    return notOffered.has(status) ? 'not offered' : 'nothing';
  }

  headerFaults({ headers }: Reply, response: Response): string[] {
    const promised = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
    const undescribed = [...response.headers.keys()].filter(
      (name) => !promised.has(name) && !OF_HTTP.has(name),
    );
    const missing = [...promised].filter(
      (name) => this.headers.get(name)?.required === true && !response.headers.has(name),
    );
    const numbers = [...promised].filter((name) => this.headers.get(name)?.schema.type === 'integer');
    const bad = numbers.filter((name) => !/^\d+$/.test(response.headers.get(name) ?? '0'));
    return [
      ...undescribed.map((name) => `has the header ${name}`),
      ...missing.map((name) => `lacks the header ${name}`),
      ...bad.map((name) => `has ${name}: ${response.headers.get(name)}`),
    ];
  }

  bodyFaults(schema: object, value: unknown): string[] {
    const validate = this.validatorOf(schema);
    validate(value);
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `body${instancePath} ${String(message)}`,
    );
  }

  /**
   * How an event of a stream differs from its description: its fields, its data, and its name, which is the
   * type of its data where events have names.
   */
  eventFaults(media: Media, { event, data }: StreamEvent): string[] {
    const { properties } = media.schema as EventSchema;
    const name = event === undefined ? {} : { event };
    const outer = this.bodyFaults(media.schema, { ...name, data });
    if (event !== undefined && !properties.event) outer.push(`event has the name ${event}`);
    if (data === END_MARK)
      return event === undefined ? outer : [...outer, `the mark of the end has the name ${event}`];
    const value = parsed(data);
    if (value === undefined) return [...outer, 'event is not JSON'];
    if (properties.event && event !== typeOf(value))
      outer.push(`event of the type ${String(typeOf(value))} has the name ${event}`);
    return [...outer, ...this.bodyFaults(eventSchemaOf(media), value)];
  }

  private validatorOf(schema: object): ValidateFunction {
    const found = this.validators.get(schema);
    if (found) return found;
    const text = textOf(schema);
    this.compileNamed(text);
    const validate = this.ajv.compile(JSON.parse(text) as object);
    this.validators.set(schema, validate);
    return validate;
  }

  /** Compiles each named schema that a text refers to once, and not in every schema that refers to it. */
  private compileNamed(text: string): void {
    for (const [reference, name = ''] of text.matchAll(/document#\/components\/schemas\/([^"]+)/g)) {
      const own = this.uncompiled.get(name);
      if (own === undefined) continue;
      this.uncompiled.delete(name);
      this.compileNamed(own);
      this.ajv.getSchema(reference);
    }
  }
}

/** The text of a schema, whose references name the document. */
function textOf(schema: object): string {
  return JSON.stringify(schema).replaceAll('"#/', '"document#/');
}

/** Model names may contain slashes. */
function patternOf(path: string): RegExp {
  return new RegExp(
    `^${path
      .replaceAll(/[.]/g, '\\.')
      .replaceAll('{model}', '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  );
}

const descriptions = new Map<string, Description>();

/** The description that publishes a path, if one does. */
export function descriptionOf(pathname: string): Description | undefined {
  const [base, audience] = pathname.startsWith('/api/v1/')
    ? (['/api/v1', 'public'] as const)
    : (['', 'operator'] as const);
  if (base === '' && !/^\/(operator\/v1\/|healthz$|readyz$)/.test(pathname)) return undefined;
  const description = descriptions.get(base) ?? new Description(audience, base);
  descriptions.set(base, description);
  return description;
}

/** A content type without its parameters. */
export const bareType = (type: string): string => type.split(';')[0]?.trim().toLowerCase() ?? '';

export function mediaOf(content: Content, type: string): Media | undefined {
  return content[bareType(type)] ?? content['*/*'];
}

/** An event as a stream has it. */
export interface StreamEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** The data of the last event of most streams. */
export const END_MARK = '[DONE]';

/** The data of an event: JSON, or JSON and the mark of the end. */
interface EventData {
  readonly contentSchema?: object;
  readonly anyOf?: readonly { readonly contentSchema?: object; readonly const?: string }[];
}
interface EventSchema {
  readonly properties: { readonly data: EventData; readonly event?: object };
}

/** The schema of the JSON of an event. */
function eventSchemaOf({ schema }: Media): object {
  const { data } = (schema as EventSchema).properties;
  const found = data.contentSchema ?? data.anyOf?.find(({ contentSchema }) => contentSchema)?.contentSchema;
  if (!found) throw new TypeError('the description of a stream has no schema for the JSON of its events');
  return found;
}

/** Whether the last event of a stream is the mark of its end. */
export function endsWithMark({ schema }: Media): boolean {
  return (schema as EventSchema).properties.data.anyOf?.some((one) => one.const === END_MARK) ?? false;
}

/** The value of a text; `undefined` if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const typeOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
