// Imported by an end-to-end test, holds every answer that it gets against the published description: status, headers, type and body.
import assert from 'node:assert/strict';
import { type OpenApiAudience, openApiDocument } from '@svc/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll } from 'vitest';

interface Media {
  readonly schema: object;
}
interface Answer {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Answer>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Headers of the connection and of the representation, which OpenAPI leaves to HTTP. */
const OF_HTTP = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

class Description {
  private readonly paths: readonly { readonly pattern: RegExp; readonly methods: Paths[string] }[];
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false });

  constructor(
    audience: OpenApiAudience,
    private readonly base: string,
  ) {
    const document = openApiDocument({ audience, version: '19700101.000000' });
    this.ajv.addSchema({ $id: 'document', ...document });
    const paths = Object.entries(document['paths'] as Paths);
    // A literal path comes before one with parameters that fits as well.
    this.paths = paths
      .toSorted(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
      .map(([path, methods]) => ({ pattern: patternOf(path), methods }));
  }

  /** What of an answer is not described; nothing for a path or a method that is not offered. */
  async faultsOf(method: string, url: URL, response: Response): Promise<string[]> {
    const path = url.pathname.slice(this.base.length);
    const { methods } = this.paths.find(({ pattern }) => pattern.test(path)) ?? {};
    const operation = methods?.[method.toLowerCase()];
    if (!operation) return [];
    const at = `${method} ${url.pathname}: ${response.status}`;
    const described = operation.responses[response.status];
    if (!described) return [`${at} is not described`];
    return [
      ...undescribedHeaders(described, response).map((name) => `${at} has the header ${name}`),
      ...(await this.bodyFaults(described, response)).map((fault) => `${at} ${fault}`),
    ];
  }

  private async bodyFaults({ content }: Answer, response: Response): Promise<string[]> {
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    const media = content[type] ?? content['*/*'] ?? content[response.headers.get('content-type') ?? ''];
    if (!media) return [`has the type ${type}`];
    if (type !== 'application/json') return [];
    const schema = JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"document#/')) as object;
    this.ajv.validate(schema, await response.json());
    return (this.ajv.errors ?? []).map(
      ({ instancePath, message }) => `body${instancePath} ${String(message)}`,
    );
  }
}

function undescribedHeaders({ headers }: Answer, response: Response): string[] {
  const described = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return [...response.headers.keys()].filter((name) => !described.has(name) && !OF_HTTP.has(name));
}

/** The name of a model may have slashes in it. */
function patternOf(path: string): RegExp {
  return new RegExp(
    `^${path
      .replaceAll(/[.]/g, '\\.')
      .replaceAll('{model}', '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  );
}

const descriptions = new Map<string, Description>();

function descriptionOf(pathname: string): Description | undefined {
  const [base, audience] = pathname.startsWith('/api/v1/')
    ? (['/api/v1', 'public'] as const)
    : (['', 'operator'] as const);
  if (base === '' && !pathname.startsWith('/operator/v1/')) return undefined;
  const description = descriptions.get(base) ?? new Description(audience, base);
  descriptions.set(base, description);
  return description;
}

const faults = new Set<string>();
const underWay = new Set<Promise<void>>();

/** Only what can be read twice is looked at: a stream belongs to its test. */
function look(method: string, response: Response): void {
  const url = new URL(response.url);
  const description = response.headers.has('x-svc-version') ? descriptionOf(url.pathname) : undefined;
  if (!description || response.bodyUsed) return;
  const looking = description
    .faultsOf(method, url, isJson(response) ? response.clone() : response)
    .then((found) => found.forEach((fault) => faults.add(fault)))
    // A test may cut its answer off.
    .catch(() => undefined)
    .finally(() => underWay.delete(looking));
  underWay.add(looking);
}

const isJson = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('application/json') ?? false;

const { fetch: ask } = globalThis;
globalThis.fetch = async (input, init) => {
  const response = await ask(input, init);
  look(init?.method ?? (input instanceof Request ? input.method : 'GET'), response);
  return response;
};

afterAll(async () => {
  await Promise.all(underWay);
  assert.deepEqual([...faults].toSorted(), []);
});
