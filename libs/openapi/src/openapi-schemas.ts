import { z } from 'zod';
import { ApiKeyView } from '@svc/api/keys';
import { BillingEntry } from '@svc/api/billing';
import { Capabilities } from '@svc/contracts/catalog';
import { CharacterView } from '@svc/api/characters';
import {
  CacheControl,
  ContentPart,
  Message,
  ChatRequest,
  SvcParameters,
  ChatCompletionChunk,
  ChatCompletion,
  Cost,
  SvcParametersEcho,
  TokenLogprob,
  UsageView,
} from '@svc/api/chat';
import { InputItem, ResponseReply } from '@svc/api/responses';
import { withoutAbsent } from './body-schemas.js';
import { FIELD_MEANINGS } from './field-meanings.js';
import {
  AnthropicModel,
  ConstraintsView,
  DeprecationView,
  ModelSpec,
  ModelView,
  OtherModelSpec,
  EmbeddingModelView,
  SpeechModelView,
  MusicModelView,
  ImageModelView,
  EditModelView,
  VideoModelView,
  UpscaleModelView,
  TranscriptionModelView,
  OtherModelView,
  PricingView,
  TextModelView,
} from '@svc/api/models';
import { DATA_KEYWORDS, type JsonObject, isObject, schemaRef } from './json-schema.js';
import { ErrorEnvelope, StreamError } from './openapi-errors.js';
import { AccountWithBalances, TransferView } from '@svc/api/operator';
import { withNamedParts } from './named-parts.js';
import { PaymentRequired, WalletPaymentRequired, TopUpRefused } from '@svc/api/wallets';
import { isFormFileSchema, type RouteDefinition } from '@svc/api/route';

/** Schemas with their own names; all others are named after their route. */
const NAMES = {
  input: { ChatCompletionRequest: ChatRequest, Message, ContentPart, SvcParameters, InputItem, CacheControl },
  output: {
    ChatCompletion,
    ChatCompletionChunk,
    Response: ResponseReply,
    TokenLogprob,
    Usage: UsageView,
    Cost,
    SvcParametersEcho,
    Model: ModelView,
    TextModel: TextModelView,
    EmbeddingModel: EmbeddingModelView,
    SpeechModel: SpeechModelView,
    MusicModel: MusicModelView,
    ImageModel: ImageModelView,
    EditModel: EditModelView,
    VideoModel: VideoModelView,
    UpscaleModel: UpscaleModelView,
    TranscriptionModel: TranscriptionModelView,
    OtherModel: OtherModelView,
    AnthropicModel,
    ModelSpec,
    OtherModelSpec,
    Pricing: PricingView,
    Constraints: ConstraintsView,
    Deprecation: DeprecationView,
    Capabilities,
    Character: CharacterView,
    BillingEntry,
    ApiKey: ApiKeyView,
    Error: ErrorEnvelope,
    StreamError,
    PaymentRequired,
    WalletPaymentRequired,
    TopUpRefused,
    Account: AccountWithBalances,
    Transfer: TransferView,
  },
} satisfies Record<'input' | 'output', Record<string, z.ZodType>>;

export const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';

/** The name of the schema of a form, for a route that also accepts JSON. */
const formName = (name: string): string => name.replace(/Request$/, 'Form');

/** Whether a schema describes a request, before defaults are applied, or a response. */
type Side = 'input' | 'output';

/** The validation schemas as JSON Schema, each with a name. */
export class OpenApiSchemas {
  private readonly names: Readonly<Record<Side, Map<z.ZodType, string>>>;
  private readonly byName: Readonly<Record<string, JsonObject>>;

  constructor(routes: readonly RouteDefinition[]) {
    const input = named(NAMES.input);
    const output = named(NAMES.output);
    const add = (names: Map<z.ZodType, string>, schema: z.ZodType | undefined, name: string): void => {
      if (schema && !names.has(schema)) names.set(schema, name);
    };
    for (const { operationId, body, query, params, reply, replyType, event, errors } of routes) {
      const name = operationId.charAt(0).toUpperCase() + operationId.slice(1);
      add(input, body, `${name}Request`);
      add(input, query, `${name}Query`);
      add(input, params, `${name}Params`);
      if (replyType === undefined) add(output, reply, `${name}Reply`);
      add(output, event, `${name}Event`);
      add(output, errors?.schema, `${name}Error`);
    }
    this.names = { input, output };
    const inputs = generate(input, 'input');
    for (const { body, bodyType } of routes) {
      const name = body && input.get(body);
      const schema = name === undefined ? undefined : inputs[name];
      if (name === undefined || !schema || ![bodyType].flat().includes(FORM_TYPE)) continue;
      const isForm = bodyType === FORM_TYPE;
      inputs[isForm ? name : formName(name)] = withoutAbsent(schema, 'null');
      if (!isForm) inputs[name] = withoutAbsent(schema, 'file');
    }
    this.byName = withNamedParts({ ...inputs, ...generate(output, 'output') });
  }

  /** The schema of a body of a content type. */
  bodyRef(body: z.ZodType, type: string): JsonObject {
    const name = this.nameOf(body, 'input');
    const ofForm = formName(name);
    return schemaRef(type === FORM_TYPE && this.byName[ofForm] ? ofForm : name);
  }

  ref(schema: z.ZodType, side: Side): JsonObject {
    return schemaRef(this.nameOf(schema, side));
  }

  /** The properties of a query or of path parameters: `{ name, schema, required }`. */
  properties(schema: z.ZodType): { name: string; schema: JsonObject; required: boolean }[] {
    const { properties, required } = this.byName[this.nameOf(schema, 'input')] ?? {};
    return Object.entries((properties ?? {}) as Record<string, JsonObject>).map(([name, property]) => ({
      name,
      schema: property,
      required: Array.isArray(required) && required.includes(name),
    }));
  }

  /** The schemas that `value` refers to, directly or indirectly, in the order of their names. */
  reachableFrom(value: unknown): Record<string, JsonObject> {
    const found = new Set<string>();
    const visit = (part: unknown): void => {
      for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        if (found.has(name)) continue;
        found.add(name);
        visit(this.byName[name]);
      }
    };
    visit(value);
    return Object.fromEntries([...found].toSorted().map((name) => [name, this.byName[name] ?? {}]));
  }

  private nameOf(schema: z.ZodType, side: Side): string {
    const name = this.names[side].get(schema);
    if (name === undefined) throw new Error('a schema of a route has no name');
    return name;
  }
}

function named(schemas: Readonly<Record<string, z.ZodType>>): Map<z.ZodType, string> {
  return new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]));
}

function generate(names: ReadonlyMap<z.ZodType, string>, side: Side): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: side,
    uri: (id) => `#/components/schemas/${id}`,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type !== 'custom') return;
      // A custom check has no JSON Schema.
      if (!isFormFileSchema(zodSchema)) throw new Error('a schema cannot be described');
      Object.assign(jsonSchema, { type: 'string', format: 'binary', minLength: 1 });
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      withMeanings(tidy(schema as JsonObject, side), FIELD_MEANINGS[name] ?? {}),
    ]),
  );
}

function withMeanings(schema: JsonObject, meanings: Readonly<Record<string, string>>): JsonObject {
  const properties = { ...(schema['properties'] as Record<string, JsonObject>) };
  for (const [field, description] of Object.entries(meanings)) {
    if (!properties[field]) throw new Error(`there is no field ${field} to give a meaning to`);
    properties[field] = { ...properties[field], description };
  }
  return Object.keys(meanings).length === 0 ? schema : { ...schema, properties };
}

/** A generated schema without keywords that mean nothing to its readers. */
function tidy(schema: JsonObject, side: Side): JsonObject {
  const kept: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (!isNoise(keyword, schema, side)) kept[keyword] = tidyValue(keyword, value, side);
  }
  if (kept['example'] !== undefined) {
    kept['examples'] = [kept['example']];
    delete kept['example'];
  }
  return nullAsType(kept);
}

function tidyValue(keyword: string, value: unknown, side: Side): unknown {
  if (keyword === 'additionalProperties' && isEmpty(value)) return true;
  if (DATA_KEYWORDS.has(keyword)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => (isObject(item) ? tidy(item, side) : (item as unknown)));
    return items;
  }
  if (!isObject(value)) return value;
  if (keyword !== 'properties') return tidy(value, side);
  return Object.fromEntries(
    Object.entries(value).map(([name, property]) => [name, tidy(property as JsonObject, side)]),
  );
}

function isNoise(keyword: string, schema: JsonObject, side: Side): boolean {
  const value = schema[keyword];
  switch (keyword) {
    case '$schema':
    case '$id':
    case 'id':
      return true;
    case 'propertyNames':
      return Object.keys(value as JsonObject).every((inner) => inner === 'type');
    case 'minimum':
    case 'maximum':
      // The implicit bound of every integer in a response.
      return side === 'output' && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
    case 'pattern':
      // The long pattern that a format implies.
      return schema['format'] !== undefined && String(value).length > 40;
    case 'additionalProperties':
      // Responses may gain fields.
      return value === false && side === 'output';
    default:
      return false;
  }
}

/** `anyOf` of one simple type and null, as a list of types. */
function nullAsType(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as JsonObject[];
  if (first === undefined || second?.['type'] !== 'null' || typeof first['type'] !== 'string') return schema;
  // It becomes a component, which is not null itself.
  if (first['title'] !== undefined) return schema;
  const { type, enum: several, const: only, ...others } = first;
  // Client generators do not support enumerations of booleans.
  if (typeof only === 'boolean') return schema;
  const merged = { ...others, ...rest, type: [type, 'null'] };
  const values = Array.isArray(several) ? (several as unknown[]) : only === undefined ? undefined : [only];
  return values ? { ...merged, enum: [...values, null] } : merged;
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
