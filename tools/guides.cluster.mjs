// Follows guides of docs/development.md in a copy of the libraries: each example makes the edits that the
// guide lists, in the files that it links, in no more files than its number, and the compiler accepts the
// result. A chat is served through the example of a dialect.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const TIMEOUT = 300_000;

/** Imports of examples are none of this file. */
const SVC = '@svc';

const SEARCH = 'libs/contracts/src/catalog/search.ts';
const KINDS = 'libs/retrieval/src/search/provider-kinds.ts';
const LIMITER = 'libs/contracts/src/ports/limiter.ts';
const LIMIT_LOG = 'libs/contracts/src/messages/limit-log.ts';
const UNITS = 'libs/contracts/src/money/units.ts';
const RAILS = 'libs/payments/src/rails/rails.ts';
const CATALOG = 'libs/contracts/src/catalog/catalog.ts';
const EXTRA_PRICES = 'libs/paid/src/paid/extra-prices.ts';
const ROUTES = 'libs/api/src/routes.ts';
const API = 'libs/api/package.json';
const TEXT = 'libs/text/src/text.module.ts';
const ROOMS = 'tools/rooms.mjs';
const PAID = 'apps/all/test/paid-requests.ts';
const BACKEND_KINDS = 'libs/contracts/src/catalog/backend-kinds.ts';
const DIALECTS = 'libs/router/src/dialects/dialects.ts';

/** The dialect that the guide calls a small example, as the dialect of a kind of its own. */
const exampleDialect = (await readFile(join(root, 'libs/router/test/event-dialect.ts'), 'utf8'))
  .replaceAll("'../src/", "'../")
  .replace('export const eventDialect', 'export const example');
/** Serves a chat through the router by a backend of that kind, streamed and whole. */
const EXAMPLE_CHAT = 'libs/router/src/example/example.int.ts';

/**
 * Guides with an example: the most files that it may edit, texts that are replaced in them, and new files. An
 * example may follow two guides.
 */
const GUIDES = [
  {
    title: 'Adding an endpoint that costs money',
    and: 'Adding a price unit',
    most: 9,
    edits: [
      [ROUTES, 'import { tee', "import { stillRoutes } from './stills/still-routes.js';\nimport { tee"],
      [ROUTES, '  ...embeddingRoutes,', '  ...embeddingRoutes,\n  ...stillRoutes,'],
      [
        API,
        '    "./images": {',
        `    "./stills": {
      "svc-source": "./src/stills/index.ts",
      "types": "./dist/stills/index.d.ts",
      "default": "./dist/stills/index.js"
    },
    "./images": {`,
      ],
      [
        TEXT,
        'import { Tokenizers }',
        "import { StillsController } from './stills/stills.controller.js';\nimport { Tokenizers }",
      ],
      [TEXT, 'EmbeddingsController]', 'EmbeddingsController, StillsController]'],
      [
        ROOMS,
        "    embeddings: ['route', 'chat'],",
        "    embeddings: ['route', 'chat'],\n    stills: ['route'],",
      ],
      [ROOMS, "    embeddings: ['inputs'],", "    embeddings: ['inputs'],\n    stills: [],"],
      [PAID, '  augmentSearch: {', '  stills: { body: () => ({ count: 1 }) },\n  augmentSearch: {'],
      [UNITS, '  track: {', "  still: { shownAs: 'still', size: 1 },\n  track: {"],
      [CATALOG, '  webSearch: ExtraUsd,', '  still: ExtraUsd,\n  webSearch: ExtraUsd,'],
      [EXTRA_PRICES, '  webSearch: {', "  still: { sku: 'still', unit: 'still' },\n  webSearch: {"],
    ],
    added: {
      'libs/api/src/stills/index.ts': "export { Stills, StillsReply } from './stills.js';\n",
      'libs/api/src/stills/stills.ts': `import { z } from 'zod';

export const Stills = z.object({ count: z.int().min(1).max(100) });
export const StillsReply = z.object({ count: z.int() });

export type Stills = z.infer<typeof Stills>;
export type StillsReply = z.infer<typeof StillsReply>;
`,
      'libs/api/src/stills/still-routes.ts': `import type { RouteDefinition } from '../route/route-definition.js';
import { Stills, StillsReply } from './stills.js';

export const stillRoutes = {
  stills: {
    method: 'POST',
    path: '/api/v1/stills',
    operationId: 'makeStills',
    tag: 'Video',
    summary: 'Makes stills',
    access: 'key-or-wallet',
    status: 200,
    admitted: 'once',
    body: Stills,
    reply: StillsReply,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'INSUFFICIENT_BALANCE', 'RATE_LIMIT_EXCEEDED'],
  },
} as const satisfies Record<string, RouteDefinition>;
`,
      'libs/text/src/stills/stills.controller.ts': `import { Body, Controller, Req, Res } from '@nestjs/common';
import { routes } from '${SVC}/api';
import type { Stills, StillsReply } from '${SVC}/api/stills';
import { Catalog } from '${SVC}/catalog';
import { chargeLine } from '${SVC}/contracts/messages';
import { perMinute } from '${SVC}/contracts/ports';
import { PaidOperations, extraPrice } from '${SVC}/paid/paid';
import { Serves } from '${SVC}/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

@Controller()
export class StillsController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.stills)
  async make(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { count }: Stills,
  ): Promise<StillsReply> {
    const line = chargeLine(extraPrice('still', this.catalog), count);
    const limits = perMinute('user', { requestsPerMinute: 60 });
    const operation = {
      sale: { name: 'stills', resource: { kind: 'route' as const, name: '/api/v1/stills' }, limits },
      amounts: {},
      hold: { amountNano: line.amountNano },
      perform: () => Promise.resolve({ result: { count }, backend: 'example', lines: [line] }),
    };
    const { result } = await this.paid.run(operation, { request, reply });
    return result;
  }
}
`,
    },
  },
  {
    title: 'Adding a search provider',
    most: 2,
    edits: [
      [
        SEARCH,
        "z.literal('exa'), ...keyed }),",
        "z.literal('exa'), ...keyed }),\n  z.strictObject({ kind: z.literal('example'), ...keyed }),",
      ],
      [KINDS, 'import { exa }', "import { example } from './example.js';\nimport { exa }"],
      [KINDS, "    case 'exa':", "    case 'example':\n      return example(keyed);\n    case 'exa':"],
    ],
    added: {
      'libs/retrieval/src/search/example.ts': `import { type KeyedTerms, type Provider, pagesIn } from './provider.js';

export function example({ name, deadlineMs, url, key }: KeyedTerms): Provider {
  return {
    name,
    deadlineMs,
    request: ({ text }) => ({
      method: 'GET',
      url: \`\${url ?? 'https://search.example'}/?q=\${encodeURIComponent(text)}\`,
      headers: { authorization: key },
    }),
    read: (response) => pagesIn(response, ['results']).map(({ title, url: address }) => ({ title, url: address, content: '' })),
  };
}
`,
    },
  },
  {
    title: 'Adding a limit',
    most: 3,
    edits: [
      [LIMITER, "'credits'] as const", "'credits', 'characters'] as const"],
      [LIMITER, '  credits: new Map([', "  characters: new Map([[MINUTE_MS, 'KPM']]),\n  credits: new Map(["],
      [LIMIT_LOG, "'CPD'] as const", "'CPD', 'KPM'] as const"],
    ],
    added: {},
  },
  {
    title: 'Adding a price unit',
    most: 1,
    edits: [[UNITS, '  track: {', "  frame: { shownAs: 'frame', size: 1 },\n  track: {"]],
    added: {
      'libs/contracts/src/money/example.ts': `import { chargeLine } from '../messages/usage.js';

export const line = chargeLine({ sku: 'example', unit: 'frame', priceNanoPerMillion: 1n }, 1);
`,
    },
  },
  {
    title: 'Adding a payment rail',
    most: 2,
    edits: [
      [
        RAILS,
        'import type { RailKind }',
        "import { example } from './example.js';\nimport type { RailKind }",
      ],
      [RAILS, '= [base, ', '= [base, example, '],
    ],
    added: {
      'libs/payments/src/rails/example.ts': `import { BASE } from './base.js';
import { evmRail } from './evm-rail.js';

export const example = evmRail({ ...BASE, name: 'example', title: 'Example', chainId: 1, prefix: 'X402_EXAMPLE' });
`,
    },
  },
  {
    title: 'Adding a dialect of model servers',
    most: 3,
    edits: [
      [
        BACKEND_KINDS,
        "  'gemini',\n  'bedrock',\n  'vertex',\n  'azure',",
        "  'example',\n  'gemini',\n  'bedrock',\n  'vertex',\n  'azure',",
      ],
      [DIALECTS, 'import { gemini,', "import { example } from '../example/example.js';\nimport { gemini,"],
      [DIALECTS, '  gemini,\n  bedrock,', '  example,\n  gemini,\n  bedrock,'],
      [
        ROOMS,
        "    dialects: ['chat', 'anthropic',",
        "    example: ['chat', 'dialect'],\n    dialects: ['example', 'chat', 'anthropic',",
      ],
    ],
    added: {
      'libs/router/src/example/example.ts': exampleDialect,
      [EXAMPLE_CHAT]: `import { Catalog } from '${SVC}/catalog';
import { expect, it } from 'vitest';
import { TestBackend } from '../../test/backend.js';
import { catalogFile, patientRouter } from '../../test/routing.js';

const EVENTS = [
  { type: 'message_start', message: { usage: { input: 3, cache_read: 4 } } },
  { type: 'content_block_delta', index: 0, delta: { text: 'Hello' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output: 2 } },
];
const usage = { input: 3, cache_read: 4, output: 2 };
const MESSAGE = { type: 'message', content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', usage };

it.each(['complete', 'stream'] as const)('serves a chat: %s', async (way) => {
  const backend = await TestBackend.start((response) => {
    if (way === 'complete') response.end(JSON.stringify(MESSAGE));
    else response.end(EVENTS.map((event) => \`data: \${JSON.stringify(event)}\\n\\n\`).join(''));
  });
  const entry = { url: backend.url, model: 'x', kind: 'example' };
  const { router, stop } = patientRouter(new Catalog(catalogFile({ id: 'm', backends: [entry] })));
  const { signal } = new AbortController();
  const body = [Buffer.from('{"messages":[1],"max_tokens":5}')];
  const response = await router.chat[way]({ requestId: 'r', accountId: 'a', model: 'm', body }, signal);
  let text = '';
  const arrivals = response.arrivals({ idleTimeoutMs: 60_000, onRepetition: undefined });
  for await (const events of Symbol.asyncIterator in arrivals ? arrivals : [arrivals])
    for (const event of events)
      for (const { delta } of response.read(event)) if (typeof delta['content'] === 'string') text += delta['content'];
  expect(text).toBe('Hello');
  expect(response.facts.reported).toMatchObject({ promptTokens: 7, cachedTokens: 4, completionTokens: 2 });
  expect(backend.requests[0]?.url).toBe('/v1/talk');
  await stop();
  await backend.close();
});
`,
    },
  },
];

const guide = await readFile(join(root, 'docs/development.md'), 'utf8');
const sectionOf = (title) => guide.split('\n## ').find((text) => text.startsWith(`${title}\n`)) ?? '';

let copy;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'svc-guides-'));
  const isSource = (path) => !/\/(?:dist|node_modules)(?:\/|$)/.test(path.slice(root.length));
  await cp(join(root, 'libs'), join(copy, 'libs'), { recursive: true, filter: isSource });
  for (const name of ['package.json', 'tsconfig.base.json', ROOMS, PAID])
    await cp(join(root, name), join(copy, name));
  await mkdir(join(copy, 'node_modules/@svc'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@svc' && name !== '.cache')
      await symlink(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  for (const name of await readdir(join(copy, 'libs')))
    await symlink(join(copy, 'libs', name), join(copy, 'node_modules/@svc', name));
  const tsconfig = {
    extends: './tsconfig.base.json',
    compilerOptions: {
      composite: false,
      noEmit: true,
      declaration: false,
      declarationMap: false,
      customConditions: ['svc-source'],
    },
    include: [
      'api/src',
      'contracts/src/catalog',
      'contracts/src/money',
      'contracts/src/ports',
      'retrieval/src/search',
      'catalog/src',
      'identity/src',
      'paid/src',
      'payments/src/rails',
      'router/src',
      'text/src',
      '*/src/**/*.d.ts',
    ].map((path) => `libs/${path}`),
    exclude: ['**/*.spec.ts', '**/*.int.ts', '**/*.cluster.ts'],
  };
  await writeFile(join(copy, 'tsconfig.json'), JSON.stringify(tsconfig));
}, TIMEOUT);

afterAll(() => rm(copy, { recursive: true, force: true }));

/** Replaces a text that a file has once. */
async function edit([path, old, replacement]) {
  const parts = (await readFile(join(copy, path), 'utf8')).split(old);
  expect([path, old, parts.length - 1]).toEqual([path, old, 1]);
  await writeFile(join(copy, path), parts.join(replacement));
}

const compiled = () =>
  run(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json', '--pretty', 'false'], { cwd: copy }).then(
    () => '',
    (error) => error.stdout,
  );

/** The number of files that an example edits and adds. */
const counted = GUIDES.map((guide) => ({
  ...guide,
  edited: new Set(guide.edits.map(([path]) => path)).size,
  created: Object.keys(guide.added).length,
}));

describe('the guides of docs/development.md', () => {
  it.each(counted)(
    '$title: $edited edited files, $created new ones; it links each that its example edits',
    ({ title, and, edits, added, edited, most }) => {
      expect(edited).toBeLessThanOrEqual(most);
      const section = `${sectionOf(title)}${and ? sectionOf(and) : ''}`;
      const linked = Array.from(section.matchAll(/\]\(([^)#\s]+)\)/g), ([, target]) =>
        posix.join('docs', target),
      );
      const folders = Array.from(section.matchAll(/`(libs\/[\w/.-]+)`/g), ([, path]) => path);
      expect(edits.map(([path]) => path).filter((path) => !linked.includes(path))).toEqual([]);
      const named = (path) => {
        const own = posix.dirname(path);
        return folders.some((folder) =>
          [folder, posix.dirname(folder), posix.join(folder, posix.basename(own))].includes(own),
        );
      };
      const isExample = title.endsWith('unit');
      expect(Object.keys(added).filter((path) => !isExample && !named(path))).toEqual([]);
    },
  );

  it('have examples that compile', { timeout: TIMEOUT }, async () => {
    for (const { edits, added } of GUIDES) {
      for (const one of edits) await edit(one);
      for (const [path, text] of Object.entries(added)) {
        await mkdir(join(copy, posix.dirname(path)), { recursive: true });
        await writeFile(join(copy, path), text);
      }
    }
    expect(await compiled()).toBe('');
  });

  it('have a dialect through which a chat is served', { timeout: TIMEOUT }, async () => {
    const config = { extends: './tsconfig.base.json', include: ['libs'] };
    await writeFile(join(copy, 'tsconfig.json'), JSON.stringify(config));
    await writeFile(
      join(copy, 'vitest.config.mjs'),
      `const conditions = ['svc-source'];
const ssr = { resolve: { conditions, externalConditions: conditions } };
export default { resolve: { conditions }, ssr, test: { include: ['${EXAMPLE_CHAT}'] } };
`,
    );
    const report = join(copy, 'report.json');
    await run(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=json', `--outputFile=${report}`],
      { cwd: copy },
    ).catch(() => undefined);
    const { testResults } = JSON.parse(await readFile(report, 'utf8'));
    expect(testResults).toMatchObject([
      { message: '', assertionResults: [{ status: 'passed' }, { status: 'passed' }] },
    ]);
  });
});
