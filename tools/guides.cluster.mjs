// Follows guides of docs/development.md in a copy of the libraries: each example makes the edits that the
// guide lists, in the files that it links, and the compiler accepts the result.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const TIMEOUT = 300_000;

const SEARCH = 'libs/contracts/src/catalog/search.ts';
const KINDS = 'libs/retrieval/src/search/provider-kinds.ts';
const LIMITER = 'libs/contracts/src/ports/limiter.ts';
const LIMIT_LOG = 'libs/contracts/src/messages/limit-log.ts';
const UNITS = 'libs/contracts/src/money/units.ts';
const RAILS = 'libs/payments/src/rails/rails.ts';

/** Each guide with an example: texts that are replaced in files, and new files. */
const GUIDES = [
  {
    title: 'Adding a search provider',
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
    edits: [
      [LIMITER, "'credits'] as const", "'credits', 'characters'] as const"],
      [LIMITER, '  credits: new Map([', "  characters: new Map([[MINUTE_MS, 'KPM']]),\n  credits: new Map(["],
      [LIMIT_LOG, "'CPD'] as const", "'CPD', 'KPM'] as const"],
    ],
    added: {},
  },
  {
    title: 'Adding a price unit',
    edits: [[UNITS, '  track: {', "  frame: { shownAs: 'frame', size: 1 },\n  track: {"]],
    added: {
      'libs/contracts/src/money/example.ts': `import { chargeLine } from '../messages/usage.js';

export const line = chargeLine({ sku: 'example', unit: 'frame', priceNanoPerMillion: 1n }, 1);
`,
    },
  },
  {
    title: 'Adding a payment rail',
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
];

const guide = await readFile(join(root, 'docs/development.md'), 'utf8');
const sectionOf = (title) => guide.split('\n## ').find((text) => text.startsWith(`${title}\n`)) ?? '';

let copy;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'svc-guides-'));
  const isSource = (path) => !/\/(?:dist|node_modules)(?:\/|$)/.test(path.slice(root.length));
  await cp(join(root, 'libs'), join(copy, 'libs'), { recursive: true, filter: isSource });
  for (const name of ['package.json', 'tsconfig.base.json']) await cp(join(root, name), join(copy, name));
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
      'contracts/src/money',
      'contracts/src/ports',
      'retrieval/src/search',
      'payments/src/rails',
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

describe('the guides of docs/development.md', () => {
  it.each(GUIDES)('$title: links the files that its example edits', ({ title, edits, added }) => {
    const section = sectionOf(title);
    const linked = Array.from(section.matchAll(/\]\(([^)#\s]+)\)/g), ([, target]) =>
      posix.join('docs', target),
    );
    const folders = Array.from(section.matchAll(/`(libs\/[\w/.-]+)`/g), ([, path]) => path);
    expect(edits.map(([path]) => path).filter((path) => !linked.includes(path))).toEqual([]);
    const named = (path) =>
      folders.some(
        (folder) => posix.dirname(path) === folder || posix.dirname(path) === posix.dirname(folder),
      );
    const isExample = title.endsWith('unit');
    expect(Object.keys(added).filter((path) => !isExample && !named(path))).toEqual([]);
  });

  it('have examples that compile', { timeout: TIMEOUT }, async () => {
    for (const { edits, added } of GUIDES) {
      for (const one of edits) await edit(one);
      for (const [path, text] of Object.entries(added)) await writeFile(join(copy, path), text);
    }
    expect(await compiled()).toBe('');
  });
});
