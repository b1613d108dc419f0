import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from './openapi.js';

interface Described {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly headers: Record<string, object>;
    readonly securitySchemes: Record<string, { readonly name?: string; readonly description: string }>;
  };
}
interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly 'x-payment-info'?: object;
}

const document = openApiDocument({ audience: 'public', version: '' }) as unknown as Described;
const operations = Object.values(document.paths).flatMap(Object.values<Operation>);
const headersOf = ({ parameters = [] }: Operation): string[] =>
  parameters.flatMap(({ in: place, name }) => (place === 'header' ? [name.toLowerCase()] : []));

/** Headers that the pages name and that clients of the API do not choose. */
const OF_OTHERS = [
  // Of every request, which OpenAPI describes in other ways.
  'accept',
  'authorization',
  'content-type',
  'content-length',
  // Of proxies, browsers, pages of the console, and model servers.
  'x-forwarded-for',
  'x-forwarded-proto',
  'sec-fetch-site',
  'x-svc-console',
  'x-compute-tokens',
  // An example of the header that an operator chooses.
  'x-openwebui-user-id',
];

const root = join(import.meta.dirname, '../../..');
const pages = globSync('docs/*.md', { cwd: root }).map((path) => {
  const [described = ''] = readFileSync(join(root, path), 'utf8').split(
    'Headers of responses that are never sent:',
  );
  return described;
});

const HEADER = /^(?:x-[a-z\d-]+|anthropic-[a-z]+|[A-Z][A-Za-z\d]*(?:-[A-Za-z\d]+)+)$/;

/** The headers in code of the pages, and in the commands that they show. */
const named = new Set(
  pages.flatMap((page) => {
    const spans = Array.from(page.matchAll(/`([^`\n:]+)(?::[^`\n]*)?`/g), ([, span = '']) => span);
    const sent = Array.from(page.matchAll(/-H ["']([\w-]+):/g), ([, name = '']) => name);
    return [...spans.filter((span) => HEADER.test(span)), ...sent].map((name) => name.toLowerCase());
  }),
);

describe('the headers of the description', () => {
  it('are all that the pages name', () => {
    const { headers, securitySchemes } = document.components;
    const schemes = Object.values(securitySchemes).flatMap(({ name = '', description }) => [
      name,
      ...Array.from(description.matchAll(/`([^`]+)`/g), ([, span = '']) => span),
    ]);
    const described = new Set(
      [...Object.keys(headers), ...schemes, ...operations.flatMap(headersOf)].map((each) =>
        each.toLowerCase(),
      ),
    );
    expect([...named].filter((name) => !described.has(name)).toSorted()).toEqual(OF_OTHERS.toSorted());
    expect(named.size).toBeGreaterThan(25);
  });

  it.each<[string, string[]]>([
    [
      'createChatCompletion',
      ['x-svc-tee-client-pub-key', 'x-svc-tee-model-pub-key', 'x-svc-tee-signing-algo'],
    ],
    ['createChatCompletion', ['idempotency-key', 'x-session-id', 'x-session-affinity', 'accept-encoding']],
    ['createMessage', ['anthropic-version', 'anthropic-beta', 'x-session-id']],
    ['listModels', ['anthropic-version']],
    ['topUp', ['payment-signature', 'x-402-payment', 'x-payment']],
    ['queueVideo', ['idempotency-key', 'x-stainless-retry-count']],
    ['callRpc', ['idempotency-key']],
  ])('are parameters of %s: %s', (id, expected) => {
    const [operation] = operations.filter(({ operationId }) => operationId === id);
    expect(headersOf(operation as Operation)).toEqual(expect.arrayContaining(expected));
  });
});

describe('every operation', () => {
  it('has a description', () => {
    const without = operations.filter(({ description = '' }) => description === '');
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('that is sold says so, and no other', () => {
    const sold = operations.flatMap((each) => (each['x-payment-info'] ? [each.operationId] : []));
    expect(sold).toEqual(
      expect.arrayContaining(['createChatCompletion', 'createSpeech', 'queueVideo', 'topUp']),
    );
    const free = [
      'countMessageTokens',
      'countResponseInputTokens',
      'listModels',
      'retrieveVideo',
      'quoteVideo',
    ];
    expect(sold.filter((id) => free.includes(id))).toEqual([]);
  });
});
