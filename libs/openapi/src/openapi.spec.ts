import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ChatRequest } from '@svc/api/chat';
import { openApiDocument } from './openapi.js';
import { EXAMPLES } from './openapi-examples.js';
import { resolvePart } from './shared-parts.js';
import { PROBLEMS } from '@svc/contracts/problems';
import { routes } from '@svc/api';

interface Media {
  schema: object;
  examples?: Record<string, { value: unknown }>;
}
interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { headers: Record<string, object>; content: Record<string, Media> }>;
}
interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
}

const documents = (['public', 'operator'] as const).map((audience) => ({
  audience,
  document: openApiDocument({ audience, version: '20261121.000000' }) as unknown as Document,
}));
const described = (audience: 'public' | 'operator'): Document =>
  documents.find((one) => one.audience === audience)?.document as Document;

const operationsOf = (document: Document): Operation[] =>
  Object.values(document.paths)
    .flatMap(Object.values<Operation>)
    .map((operation) => resolved(document, operation));

const resolved = (document: Document, operation: Operation): Operation => ({
  ...operation,
  responses: Object.fromEntries(
    Object.entries(operation.responses).map(([status, response]) => [
      status,
      resolvePart(document, response),
    ]),
  ),
});

/** A schema of this length is worth a name. */
const LONG_CHARACTERS = 400;

describe.each(documents)('the $audience description', ({ document }) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
  ajv.addSchema({ $id: 'document', ...document });
  // So that each is compiled once, and not in every schema that refers to it.
  for (const name of Object.keys(document.components['schemas'] ?? {}))
    ajv.getSchema(`document#/components/schemas/${name}`);
  const faultsOf = (schema: object, values: readonly unknown[]): unknown[] => {
    // References are relative to the document, not to this part of it.
    const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
    const validate = ajv.compile(local);
    return values.flatMap((value) => (validate(value) ? [] : [{ value, faults: validate.errors }]));
  };

  it('allows null wherever it declares a value nullable', () => {
    const schemas: { type?: unknown; enum?: unknown[]; const?: unknown }[] = [];
    JSON.stringify(document, (_name, value: unknown) => {
      if (typeof value === 'object' && value !== null) schemas.push(value);
      return value;
    });
    const nullable = schemas.filter(({ type }) => Array.isArray(type) && type.includes('null'));
    expect(nullable.filter((schema) => schema.const !== undefined)).toEqual([]);
    expect(nullable.filter((schema) => schema.enum && !schema.enum.includes(null))).toEqual([]);
  });

  it('describes a body as JSON without files, and as a form without null', () => {
    const textOf = ({ schema }: Media): string => {
      const name = /schemas\/([^"]+)/.exec(JSON.stringify(schema))?.[1] ?? '';
      return JSON.stringify(document.components['schemas']?.[name] ?? schema);
    };
    const contents = operationsOf(document).map(({ requestBody }) => requestBody?.content ?? {});
    const of = (type: string): string[] =>
      contents.flatMap((content) => (content[type] ? [textOf(content[type])] : []));
    expect(of('application/json').filter((text) => text.includes('"binary"'))).toEqual([]);
    expect(of('multipart/form-data').filter((text) => /\bnull\b/.test(text))).toEqual([]);
    expect(of('application/json').length).toBeGreaterThan(0);
  });

  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document) as never);
    expect(result).toMatchObject({ valid: true });
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it('has only examples that match their schema', () => {
    const media = operationsOf(document).flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((one) => Object.values(one?.content ?? {})),
    );
    const examples = media.map(({ schema, examples: named }) => ({
      schema,
      values: Object.values(named ?? {}).map((example) => resolvePart(document, example).value),
    }));
    expect(examples.flatMap(({ values }) => values).length).toBeGreaterThan(20);
    const used = examples.filter(({ values }) => values.length > 0);
    expect(used.flatMap(({ schema, values }) => faultsOf(schema, values))).toEqual([]);
  });

  it('has no dangling references and no unused components', () => {
    const text = JSON.stringify([document.paths, document.components]);
    const referred = new Set(
      [...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
    );
    const held = ['schemas', 'headers', 'responses', 'examples'].flatMap((kind) =>
      Object.keys(document.components[kind] ?? {}).map((name) => `${kind}/${name}`),
    );
    expect([...referred].toSorted()).toEqual(held.toSorted());
  });

  it('names every operation once', () => {
    const ids = operationsOf(document).map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('gives client generators a class for each named object: none may be null or has the name of a part', () => {
    const named = document.components['schemas'] as Record<string, { type?: unknown; properties?: object }>;
    expect(Object.entries(named).filter(([, { type }]) => Array.isArray(type))).toEqual([]);
    // Generators call the object at `details` of `Error` `ErrorDetails`.
    const parts = Object.entries(named).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, part]) => (part as { properties?: object }).properties)
        .map(([property]) => `${name}${property}`.replaceAll('_', '').toLowerCase()),
    );
    expect(Object.keys(named).filter((name) => parts.includes(name.toLowerCase()))).toEqual([]);
  });

  it('names every object that is a member of a union', () => {
    const unions = [...JSON.stringify(document.components['schemas']).matchAll(/"oneOf":\[(.*?)\]/g)];
    expect(unions.filter(([, members]) => !/^(\{"\$ref":"[^"]+"\},?)+$/.test(members ?? ''))).toEqual([]);
  });

  it('writes no object twice whose schema is long', () => {
    const found = new Map<string, number>();
    JSON.stringify(document.components['schemas'], (_name, value: { properties?: unknown }) => {
      if (typeof value === 'object' && value !== null && value.properties) {
        const text = JSON.stringify(value);
        if (text.length > LONG_CHARACTERS) found.set(text, (found.get(text) ?? 0) + 1);
      }
      return value;
    });
    expect([...found].flatMap(([text, count]) => (count > 1 ? [text] : []))).toEqual([]);
  });

  it('has no name with a number or with a word twice in a row', () => {
    const names = Object.keys(document.components['schemas'] ?? {});
    expect(names.filter((name) => /\d$|([A-Z][a-z]+)\1(?![a-z])/.test(name))).toEqual([]);
  });

  it('contains no keywords of the generator', () => {
    expect(JSON.stringify(document)).not.toMatch(/"\$schema"|"\$id"/);
  });
});

describe('the public description', () => {
  const document = described('public');
  const chat = resolved(document, document.paths['/chat/completions']?.['post'] as Operation);

  it("has every public route and none of the operator's", () => {
    const expected = Object.values(routes).flatMap(({ path, operationId }) =>
      path.startsWith('/api/v1/') ? [operationId as string] : [],
    );
    const ids = operationsOf(document).map(({ operationId }) => operationId);
    expect(ids.toSorted()).toEqual(expected.toSorted());
    expect(JSON.stringify(document)).not.toContain('/operator/');
  });

  it('describes every error of the chat route by status, with a body for each code', () => {
    const listed = Object.entries(chat.responses).flatMap(([status, { content }]) =>
      Object.keys(content['application/json']?.examples ?? {}).map((code) => `${status} ${code}`),
    );
    const expected = [...routes.chatCompletions.refusals, 'AUTHENTICATION_FAILED', 'UNAVAILABLE'] as const;
    for (const code of expected) expect(listed).toContain(`${PROBLEMS[code].status} ${code}`);
    expect(listed).toContain('402 NO_CREDENTIALS');
  });

  it('describes the headers of responses, limits and payments where they are sent', () => {
    const headers = (status: number): string[] => Object.keys(chat.responses[status]?.headers ?? {});
    expect(headers(200)).toEqual(
      expect.arrayContaining(['CF-RAY', 'x-svc-model-id', 'x-ratelimit-type', 'x-svc-balance-usd']),
    );
    expect(headers(402)).toContain('PAYMENT-REQUIRED');
    expect(headers(429)).toEqual(expect.arrayContaining(['Retry-After', 'x-ratelimit-reset-requests']));
    expect(headers(400)).not.toContain('Content-Encoding');
  });

  it('has an example of a stream whose events are valid chunks', () => {
    const stream = chat.responses['200']?.content['text/event-stream'] as Media;
    const data = Object.values(stream.examples ?? {}).map(({ value }) => (value as { data: string }).data);
    expect(data.pop()).toBe('[DONE]');
    const chunks = data.map((text) => routes.chatCompletions.event.safeParse(JSON.parse(text)).success);
    expect(chunks).toEqual([true, true, true, true, true]);
    expect(JSON.stringify(stream.schema)).toContain('"#/components/schemas/ChatCompletionChunk"');
  });

  it('has example requests that the service accepts', () => {
    const requests = Object.values(EXAMPLES['createChatCompletion']?.request ?? {});
    for (const { value } of requests) expect(ChatRequest.safeParse(value).error).toBeUndefined();
  });

  it('allows unknown fields in requests and new fields in responses', () => {
    const { ChatCompletionRequest, Cost } = document.components['schemas'] as Record<
      string,
      Record<string, unknown>
    >;
    expect(ChatCompletionRequest?.['additionalProperties']).toBe(true);
    expect(Cost).not.toHaveProperty('additionalProperties');
  });

  it('matches the file under version control', () => {
    const kept: unknown = parse(readFileSync(new URL('../openapi.yaml', import.meta.url), 'utf8'));
    expect(kept).toEqual(
      JSON.parse(JSON.stringify(openApiDocument({ audience: 'public', version: '19700101.000000' }))),
    );
  });
});
