import { headersOf, HEADERS } from './openapi-headers.js';
import { STATUS_MEANINGS, errorExample, refusalsByStatus } from './openapi-errors.js';
import { EXAMPLES, type NamedExamples } from './openapi-examples.js';
import { INTRODUCTION, PUBLIC_BASE } from './introduction.js';
import { headerParameters } from './request-headers.js';
import { type JsonObject, schemaRef } from './json-schema.js';
import { JSON_TYPE, OpenApiSchemas } from './openapi-schemas.js';
import { TOP_UP_LEAST_USD, TOP_UP_MOST_USD } from '@svc/contracts/money';
import type { ProblemCode } from '@svc/contracts/problems';
import type { Access, RouteDefinition } from '@svc/api/route';
import { TAGS, routes } from '@svc/api';
import { shareParts } from './shared-parts.js';

/** The readers of a description: clients, or the operator. */
export type OpenApiAudience = 'public' | 'operator';

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key. The header `x-api-key` is accepted as well.',
  },
  wallet: {
    type: 'apiKey',
    in: 'header',
    name: 'SIGN-IN-WITH-X',
    description:
      'JSON with a message signed by a wallet, in base64: EIP-4361 for EVM, the Solana sign-in message for Solana. The name ' +
      '`X-Sign-In-With-X` is accepted as well.',
  },
  operatorToken: { type: 'http', scheme: 'bearer', description: "An operator's token." },
} as const;

const SECURITY: Readonly<Record<Access, readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  probe: [],
  public: [],
  'key-or-wallet': ['apiKey', 'wallet'],
  key: ['apiKey'],
  admin: ['apiKey'],
  console: [],
  desk: [],
  operator: ['operatorToken'],
  internal: [],
  metrics: ['operatorToken'],
  process: ['operatorToken'],
};

/**
 * The OpenAPI 3.1 description of an API, generated from the catalogue of routes and the validation schemas.
 */
export function openApiDocument(of: { audience: OpenApiAudience; version: string }): JsonObject {
  const described = Object.values<RouteDefinition>(routes).filter(
    (route) => audienceOf(route) === of.audience,
  );
  const schemas = new OpenApiSchemas(described);
  const paths: Record<string, JsonObject> = {};
  const operations = described.map((route) => ({ route, described: operation(route, schemas) }));
  const shared = shareParts(operations.map((each) => each.described));
  for (const { route, described: value } of operations) {
    const path = pathOf(route, of.audience);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: value };
  }
  const schemes = new Set(described.flatMap(({ access }) => SECURITY[access]));
  const tags = new Set(described.map(({ tag }) => tag));
  return {
    openapi: '3.1.1',
    info: {
      ...INTRODUCTION[of.audience],
      version: of.version,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: of.audience === 'public' ? PUBLIC_BASE : '/', description: 'This service' }],
    tags: Object.entries(TAGS).flatMap(([name, description]) =>
      tags.has(name) ? [{ name, description }] : [],
    ),
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(SECURITY_SCHEMES).filter(([name]) =>
          schemes.has(name as keyof typeof SECURITY_SCHEMES),
        ),
      ),
      headers: headerComponents(described),
      ...shared,
      schemas: schemas.reachableFrom([paths, shared]),
    },
  };
}

const OF_OPERATORS: ReadonlySet<RouteDefinition['access']> = new Set([
  'operator',
  'probe',
  'process',
  'metrics',
]);

/** The readers to whom a route is described, if any. */
function audienceOf({ path, access }: RouteDefinition): OpenApiAudience | undefined {
  if (access === 'internal') return undefined;
  if (path.startsWith(`${PUBLIC_BASE}/`)) return 'public';
  return OF_OPERATORS.has(access) ? 'operator' : undefined;
}

function pathOf({ path, params }: RouteDefinition, audience: OpenApiAudience): string {
  const template = path
    .replaceAll(/:(\w+)/g, '{$1}')
    .replace('*', () => `{${Object.keys(params?.shape ?? {}).join()}}`);
  return audience === 'public' ? template.slice(PUBLIC_BASE.length) : template;
}

function operation(
  route: RouteDefinition,
  schemas: OpenApiSchemas,
): JsonObject & { operationId: string; responses: Record<string, JsonObject> } {
  const { operationId, tag, summary, access, body } = route;
  const description = descriptionOf(route);
  const parameters = parametersOf(route, schemas);
  const sold = paymentInfo(route);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[access].map((scheme) => ({ [scheme]: [] })),
    ...(sold && { 'x-payment-info': sold }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: bodyContent(route, (type) => schemas.bodyRef(body, type)),
      },
    }),
    responses: responsesOf(route, schemas),
  };
}

/** The examples are JSON. */
function bodyContent(
  { operationId, bodyType = JSON_TYPE }: RouteDefinition,
  schemaOf: (type: string) => JsonObject,
): JsonObject {
  const contents = [bodyType]
    .flat()
    .map((type) =>
      contentOf(type, schemaOf(type), type === JSON_TYPE ? EXAMPLES[operationId]?.request : undefined),
    );
  return Object.assign({}, ...contents) as JsonObject;
}

/** Token scopes are part of the text: OpenAPI has scopes for OAuth only. */
function descriptionOf({ access, description, scope = 'read' }: RouteDefinition): string | undefined {
  if (access === 'probe' || !OF_OPERATORS.has(access)) return description;
  return `${description === undefined ? '' : `${description}\n\n`}Needs a token with the scope \`${scope}\`.`;
}

function parametersOf(route: RouteDefinition, schemas: OpenApiSchemas): JsonObject[] {
  const found = (['path', 'query'] as const).flatMap((place) => {
    const schema = place === 'path' ? route.params : route.query;
    return (schema ? schemas.properties(schema) : []).map(({ name, schema: property, required }) => {
      const { description, ...rest } = property;
      return { name, in: place, required, ...(description !== undefined && { description }), schema: rest };
    });
  });
  return [...found, ...headerParameters(route)];
}

/** What agents and directories of x402 read: that an operation is sold, and for how much. */
function paymentInfo({ access, admitted, isFree, payment }: RouteDefinition): JsonObject | undefined {
  const isSold = access === 'key-or-wallet' && admitted === 'once' && isFree !== true;
  if (!isSold && payment !== true) return undefined;
  const most = String(TOP_UP_MOST_USD);
  // The price of most requests is known only at their end, and depends on the model.
  const price = {
    mode: 'dynamic',
    currency: 'USD',
    min: payment ? String(TOP_UP_LEAST_USD) : '0',
    max: most,
  };
  return { price, protocols: [{ x402: {} }] };
}

function responsesOf(route: RouteDefinition, schemas: OpenApiSchemas): Record<string, JsonObject> {
  const responses: Record<string, JsonObject> = {
    [route.status]: {
      description: route.summary,
      headers: headerRefs(route, route.status),
      content: replyContent(route, schemas),
    },
  };
  if (route.mayBeEmpty) responses[204] = { description: 'Nothing.', headers: headerRefs(route, 204) };
  if (route.hasRanges)
    responses[206] = {
      description: 'The part that `Range` names.',
      headers: headerRefs(route, 206),
      content: replyContent(route, schemas),
    };
  for (const [status, codes] of refusalsByStatus(route)) {
    responses[status] = {
      description: `${STATUS_MEANINGS[status]} Codes: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
      headers: headerRefs(route, status),
      content: errorContent(codes, { route, schemas, others: bodiesOf(route, status) }),
    };
  }
  return responses;
}

function replyContent(route: RouteDefinition, schemas: OpenApiSchemas): JsonObject {
  const { reply, replyType, csv, plainText, fileTypes, operationId } = route;
  const examples = EXAMPLES[operationId];
  if (replyType !== undefined) {
    const types = typeof replyType === 'string' ? [replyType] : replyType;
    return Object.fromEntries(types.map((type) => [type, { schema: fileSchema(type) }]));
  }
  const whole = json(schemas.ref(reply, 'output'), examples?.reply);
  const events = eventContent(route, schemas);
  if (plainText) {
    const schema = { type: 'string', description: 'Only the text.' };
    return { ...whole, 'text/plain': { schema }, ...events };
  }
  if (fileTypes) {
    const schema = { type: 'string', format: 'binary' };
    return { ...whole, ...Object.fromEntries(fileTypes.map((type) => [type, { schema }])) };
  }
  if (csv) {
    const example = examples?.csv;
    const schema = { type: 'string', description: 'The same as comma-separated values (RFC 4180).' };
    return { ...whole, 'text/csv': { schema, ...(example !== undefined && { example }) } };
  }
  return { ...whole, ...events };
}

function eventContent(
  { event, namedEvents, hasEndMark, operationId }: RouteDefinition,
  schemas: OpenApiSchemas,
): JsonObject | undefined {
  if (!event) return undefined;
  const data = schemas.ref(event, 'output');
  const schema = namedEvents ? namedEventSchema(data, hasEndMark === true) : eventSchema(data);
  const examples = eventExamples(EXAMPLES[operationId]?.stream ?? '');
  return { 'text/event-stream': { schema, examples } };
}

const fileSchema = (type: string): JsonObject => ({
  type: 'string',
  ...(!/^(text|application)\//.test(type) && { format: 'binary' }),
});

function eventExamples(stream: string): NamedExamples {
  const events = stream.split('\n\n').filter((event) => event !== '');
  return Object.fromEntries(
    events.map((event, index) => [
      `event${index + 1}`,
      { summary: `Event ${index + 1} of ${events.length}`, value: eventFields(event) },
    ]),
  );
}

const eventFields = (event: string): JsonObject =>
  Object.fromEntries(
    event.split('\n').map((line) => {
      const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? [];
      return [name, value];
    }),
  );

/** The data of the last event. */
const END_MARK: JsonObject = { type: 'string', const: '[DONE]' };

/**
 * The schema of each event of a stream, in the form that tools read before OpenAPI 3.2, which has its own
 * keyword.
 */
function eventSchema(chunk: JsonObject): JsonObject {
  const data = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: { anyOf: [chunk, schemaRef('StreamError')] },
  };
  return {
    type: 'object',
    description: `An event: a line \`data: <JSON>\` and an empty one; the last is \`data: [DONE]\`. The JSON is of the schema
\`${String(chunk['$ref']).split('/').at(-1)}\`, or has an \`error\` as other errors have.`,
    properties: { data: { anyOf: [data, END_MARK] } },
    required: ['data'],
  };
}

/** The same for events whose names are the types of their data. */
function namedEventSchema(event: JsonObject, hasEndMark: boolean): JsonObject {
  const data = { type: 'string', contentMediaType: 'application/json', contentSchema: event };
  const end = hasEndMark ? ' The last is `data: [DONE]`, without a name.' : '';
  return {
    type: 'object',
    description: `An event: a line \`event: <type>\`, a line \`data: <JSON>\` and an empty one. The JSON is of the schema
\`${String(event['$ref']).split('/').at(-1)}\`.${end}`,
    properties: { event: { type: 'string' }, data: hasEndMark ? { anyOf: [data, END_MARK] } : data },
    required: hasEndMark ? ['data'] : ['event', 'data'],
  };
}

/** The schemas of an error's bodies, in addition to the common envelope. */
function bodiesOf({ access, payment }: RouteDefinition, status: number): string[] {
  return [
    ...(payment ? ['TopUpRefused'] : []),
    ...(status === 402 && (payment || access === 'key-or-wallet') ? ['PaymentRequired'] : []),
    ...(status === 402 && access === 'key-or-wallet' ? ['WalletPaymentRequired'] : []),
  ];
}

interface ErrorContext {
  readonly route: RouteDefinition;
  readonly schemas: OpenApiSchemas;
  /** The names of further schemas. */
  readonly others: readonly string[];
}

function errorContent(
  codes: readonly ProblemCode[],
  { route: { errors }, schemas, others }: ErrorContext,
): JsonObject {
  const error = errors ? schemas.ref(errors.schema, 'output') : schemaRef('Error');
  const examples: NamedExamples = Object.fromEntries(codes.map((code) => [code, errorExample(code, errors)]));
  if (others.length === 0) return json(error, examples);
  const withDiscovery = others.includes('WalletPaymentRequired')
    ? { ...examples, ...EXAMPLES['discovery']?.reply }
    : examples;
  return json({ anyOf: [error, ...others.map((name) => schemaRef(name))] }, withDiscovery);
}

const json = (schema: JsonObject, examples: NamedExamples | undefined): JsonObject =>
  contentOf(JSON_TYPE, schema, examples);

function contentOf(type: string, schema: JsonObject, examples: NamedExamples | undefined): JsonObject {
  return { [type]: { schema, ...(examples && { examples }) } };
}

function headerRefs(route: RouteDefinition, status: number): JsonObject {
  return Object.fromEntries(
    headersOf(route, status).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function headerComponents(described: readonly RouteDefinition[]): JsonObject {
  const used = new Set(
    described.flatMap((route) =>
      [route.status, ...(route.hasRanges ? [206] : []), ...refusalsByStatus(route).keys()].flatMap((status) =>
        headersOf(route, status),
      ),
    ),
  );
  return Object.fromEntries(
    Object.entries(HEADERS)
      .filter(([name]) => used.has(name))
      .map(([name, { when, type, example, description }]) => [
        name,
        { description, ...(when === 'always' && { required: true }), schema: { type }, example },
      ]),
  );
}
