// Proves that the checks can fail: a workspace with one violation per rule, each of which must be reported,
// and with the permitted counterparts, none of which may be.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const workspace = join(import.meta.dirname, '..');
const modules = join(workspace, 'node_modules');
const lines = (count, line) => `${line}\n`.repeat(count);

/** Lint violations: the rule as oxlint names it, the file, its text. */
const lint = [
  ['eslint(max-lines)', 'libs/b/src/long.ts', lines(401, '// why')],
  ['eslint(max-lines)', 'libs/b/src/long.spec.ts', lines(401, '// why')],
  [
    'eslint(max-lines-per-function)',
    'libs/b/src/tall.ts',
    `export function f(): void {\n${lines(70, '  f();')}}\n`,
  ],
  [
    'eslint(max-params)',
    'libs/b/src/wide.ts',
    'export const f = (a: 1, b: 1, c: 1, d: 1): number[] => [a, b, c, d];\n',
  ],
  [
    'eslint(max-params)',
    'libs/b/src/build.ts',
    'export class X { constructor(readonly a: 1, readonly b: 1, readonly c: 1, readonly d: 1) {} }\n',
  ],
  [
    'eslint(max-depth)',
    'libs/b/src/deep.ts',
    `export function f(a: boolean): void {${'if (a) {'.repeat(5)}f(a);${'}'.repeat(5)}}\n`,
  ],
  [
    'eslint(complexity)',
    'libs/b/src/complex.ts',
    `export const f = (a: number): number => a${' > 1 || 2'.repeat(21)} ? 1 : 2;\n`,
  ],
  ['eslint(no-console)', 'libs/b/src/print.ts', "console.log('x');\n"],
  ['eslint(no-unused-vars)', 'libs/b/src/unused.ts', 'export function f(): void {\n  const a = 1;\n}\n'],
  ['eslint(eqeqeq)', 'libs/b/src/equal.ts', 'export const f = (a: number, b: number): boolean => a == b;\n'],
  [
    'eslint(no-empty)',
    'libs/b/src/swallow.ts',
    'export function f(): void {\n  try {\n    f();\n  } catch {}\n}\n',
  ],
  [
    'eslint(preserve-caught-error)',
    'libs/b/src/rethrow.ts',
    "export function f(): void {\n  try {\n    f();\n  } catch (error) {\n    throw new Error('x');\n  }\n}\n",
  ],
  ['node(no-process-env)', 'libs/b/src/env.ts', 'export const home = process.env.HOME;\n'],
  ['node(no-process-env)', 'libs/b/src/env-spread.ts', 'export const home = { ...process.env };\n'],
  [
    'eslint(no-restricted-imports)',
    'libs/b/src/env-import.ts',
    "import { env } from 'node:process';\nexport const home = env['HOME'];\n",
  ],
  [
    'import(no-cycle)',
    'libs/b/src/ring.ts',
    "import { b } from './ring-back.js';\nexport const a = (): number => b();\n",
  ],
  [
    'import(no-cycle)',
    'libs/b/src/ring-back.ts',
    "import { a } from './ring.js';\nexport const b = (): number => a();\n",
  ],
  ['import(no-default-export)', 'libs/b/src/default.ts', 'export default 1;\n'],
  [
    'unicorn(prefer-node-protocol)',
    'libs/b/src/protocol.ts',
    "import { join } from 'path';\nexport const x = join('a');\n",
  ],
  [
    'typescript(ban-ts-comment)',
    'libs/b/src/silence.ts',
    '// @ts-' + "nocheck\nexport const x: number = 'a';\n",
  ],
  ['typescript(no-explicit-any)', 'libs/b/src/any.ts', 'export const f = (a: any): string => String(a);\n'],
  [
    'typescript(no-floating-promises)',
    'libs/b/src/floating.ts',
    "import { later } from '@svc/a';\nexport function f(): void {\n  later();\n}\n",
  ],
  [
    'typescript(no-floating-promises)',
    'libs/b/src/floating.spec.ts',
    "import { later } from '@svc/a';\nlater();\n",
  ],
  [
    'typescript(no-floating-promises)',
    'libs/b/src/floating-own.spec.ts',
    "import { g } from './ring-own.js';\ng();\n",
  ],
  [
    'typescript(no-floating-promises)',
    'apps/all/test/e2e/floating.e2e.ts',
    "import { later } from '@svc/a';\nlater();\n",
  ],
  ['typescript(no-floating-promises)', 'tools/floating.mjs', 'async function f() {}\nf();\n'],
  [
    'typescript(await-thenable)',
    'libs/b/src/thenable.ts',
    'export const f = async (): Promise<number> => await 1;\n',
  ],
  [
    'typescript(no-misused-promises)',
    'libs/b/src/misused.ts',
    "import { later } from '@svc/a';\nexport const f = (): number => (later() ? 1 : 2);\n",
  ],
  [
    'typescript(return-await)',
    'libs/b/src/returned.ts',
    "import { later } from '@svc/a';\nexport async function f(): Promise<number> {\n  try {\n    return later();\n  } catch {\n    return 1;\n  }\n}\n",
  ],
  ['typescript(only-throw-error)', 'libs/b/src/thrown.ts', "export function f(): void {\n  throw 'x';\n}\n"],
  [
    'typescript(switch-exhaustiveness-check)',
    'libs/b/src/switch.ts',
    "import type { Kind } from '@svc/a';\nexport function f(kind: Kind): number {\n  switch (kind) {\n    case 'x':\n      return 1;\n    default:\n      return 2;\n  }\n}\n",
  ],
  [
    'typescript(switch-exhaustiveness-check)',
    'libs/b/src/switch.int.ts',
    "import type { Kind } from '@svc/a';\nexport function f(kind: Kind | undefined): number {\n  switch (kind) {\n    case 'x':\n    case 'y':\n      return 1;\n  }\n  return 2;\n}\n",
  ],
  [
    'typescript(no-unsafe-assignment)',
    'libs/b/src/unsafe.ts',
    "export const f = (): unknown => {\n  const a = JSON.parse('1');\n  return a as unknown;\n};\n",
  ],
  [
    'typescript(no-unsafe-return)',
    'libs/b/src/unsafe-return.ts',
    "export const f = (): number => JSON.parse('1');\n",
  ],
  [
    'vitest(no-focused-tests)',
    'libs/b/src/focused.spec.ts',
    "import { expect, it } from 'vitest';\nit.only('x', () => {\n  expect(1).toBe(1);\n});\n",
  ],
  [
    'vitest(expect-expect)',
    'libs/b/src/hollow.spec.ts',
    "import { it } from 'vitest';\nit('x', () => {});\n",
  ],
];

/** What the rules permit. No diagnostic may name these files. */
const permitted = [
  [
    'libs/b/src/type-ring.ts',
    "import { type A, b } from './type-ring-back.js';\nexport const c = (a: A): number => a + b;\n",
  ],
  [
    'libs/b/src/type-ring-back.ts',
    "import type { c } from './type-ring.js';\nexport type A = number;\nexport const b: ReturnType<typeof c> = 1;\n",
  ],
  ['libs/b/src/ring-own.ts', 'export const g = async (): Promise<void> => {};\n'],
  [
    'libs/b/src/tall.spec.ts',
    `import { describe, expect, it } from 'vitest';\ndescribe('x', () => {\n  it('y', () => {\n${lines(80, '    expect(1).toBe(1);')}  });\n});\n`,
  ],
  ['apps/all/src/main.ts', 'console.log(process.env.HOME);\n'],
  ['tools/print.mjs', 'console.log(process.env.HOME);\n'],
  [
    'libs/b/src/allowed.ts',
    "import { later } from '@svc/a';\nexport async function f(): Promise<number> {\n  return (await later()) + 1;\n}\n",
  ],
];

/** Violations of the other checks: the check, the file, its text, what its report must contain. */
const own = [
  [
    'boundaries',
    'libs/b/src/neighbour.ts',
    "import { c } from '@svc/c';\n",
    'service @svc/b may not import service @svc/c',
  ],
  [
    'boundaries',
    'libs/b/src/neighbour-type.ts',
    "import type {\n  c,\n} from '@svc/c';\n",
    'neighbour-type.ts:3: service @svc/b may not',
  ],
  [
    'boundaries',
    'libs/b/src/neighbour-late.ts',
    "export const x = await import('@svc/c');\n",
    'neighbour-late.ts:1: service @svc/b may not',
  ],
  [
    'boundaries',
    'libs/b/src/neighbour-again.ts',
    "export { c } from '@svc/c';\n",
    'neighbour-again.ts:1: service @svc/b may not',
  ],
  [
    'boundaries',
    'libs/b/src/unreferenced.ts',
    "import '@svc/c';\n",
    'tsconfig.build.json has no reference to libs/c',
  ],
  [
    'boundaries',
    'libs/a/src/upwards.ts',
    "import '@svc/b';\n",
    'contract @svc/a may not import service @svc/b',
  ],
  ['boundaries', 'libs/b/src/fake.ts', "import '@svc/testing';\n", 'only tests may import @svc/testing'],
  ['boundaries', 'libs/b/src/inner.ts', "import '@svc/a/inner';\n", '@svc/a does not export ./inner'],
  ['boundaries', 'libs/b/src/self.ts', "import '@svc/b';\n", 'inside a project import by a relative path'],
  ['boundaries', 'libs/b/src/unknown.ts', "import '@svc/nowhere';\n", 'there is no project @svc/nowhere'],
  ['boundaries', 'libs/b/src/around.ts', "import '../../c/src/index.js';\n", 'leaves libs/b'],
  ['boundaries', 'libs/b/src/star.ts', "export * from './ring.js';\n", 'export * is forbidden'],
  ['boundaries', 'libs/b/src/query.ts', "import pg from 'pg';\n", 'only a .store file may import pg'],
  ['boundaries', 'libs/b/src/deep/er/file.ts', 'export {};\n', 'one level deep'],
  ['boundaries', 'libs/a/src/ring.ts', "import '@svc/b';\n", 'in a ring'],
  ['names', 'libs/b/src/names.ts', 'export class KeyManager {}\n', 'KeyManager says nothing'],
  ['names', 'libs/b/src/names-b.ts', 'export interface ILedger {}\n', 'ILedger has an interface prefix'],
  ['names', 'libs/b/src/names-c.ts', 'export type ChargeDto = 1;\n', 'ChargeDto says nothing'],
  ['names', 'libs/b/src/names-d.ts', 'export class LedgerImpl {}\n', 'LedgerImpl says nothing'],
  ['names', 'libs/b/src/names-e.ts', 'export const stringUtils = 1;\n', 'stringUtils says nothing'],
  ['names', 'libs/b/src/names-f.ts', 'export class ChargeService {}\n', 'ChargeService says nothing'],
  ['names', 'libs/b/src/charge.service.ts', 'export {};\n', 'suffix .service means nothing'],
  ['names', 'libs/b/src/string-utils.ts', 'export {};\n', 'file name says nothing'],
  ['names', 'libs/b/src/ChargeLine.ts', 'export {};\n', 'kebab-case'],
  [
    'lockfile',
    'package-lock.json',
    JSON.stringify({
      packages: {
        'node_modules/x': {
          optionalDependencies: { 'x-linux-x64': '1.0.0', 'x-win32-x64': '1.0.0', 'x-darwin-x64': '1.0.0' },
        },
        'node_modules/x-linux-x64': {},
        'node_modules/x/node_modules/x-darwin-x64': {},
      },
    }),
    'lacks 1; run node tools/check-lockfile.mjs --write (x-win32-x64)',
  ],
  ['text', 'libs/b/src/path.ts', `// see ${'/wo'}rk/main\n`, 'path.ts:1: '],
  ['text', 'libs/b/src/path-b.ts', `// see ..${'/shared'}\n`, 'path-b.ts:1: '],
  ['text', 'libs/b/notes.md', `Done in this ${'session'}.\n`, 'notes.md:1: '],
  ['text', 'libs/b/src/open.ts', `// TO${'DO'} later\n`, 'open.ts:1'],
  ['text', 'libs/b/src/off.ts', `// ox${'lint'}-disable-next-line no-console\n`, 'off.ts:1'],
  ['text', 'libs/b/src/off-b.ts', `// @ts-${'expect-error'}\n`, 'off-b.ts:1'],
  ['text', 'libs/b/src/banner.ts', '// ------ part ------\n', 'is a banner'],
  ['text', 'libs/b/README.md', `${lines(81, 'x')}`, 'has 81 lines'],
  [
    'text',
    'libs/b/links.md',
    '[a](README.md) [b](nowhere.md#x) `[c](none.md)`\n',
    'the link nowhere.md#x points to nothing',
  ],
  ['text', 'libs/b/big.bin', 'x'.repeat(1024 * 1024 + 1), 'big.bin: has 1048577 bytes'],
  ['text', 'libs/c/README.txt', 'x\n', 'libs/c/README.md: is missing'],
];

/** What the other checks permit: the check, the file, its text. No report may name the file. */
const ownPermitted = [
  ['boundaries', 'libs/b/src/fake.spec.ts', "import '@svc/testing';\nimport '@svc/a';\n"],
  ['boundaries', 'apps/all/test/e2e/whole.e2e.ts', "import '@svc/c';\nimport '@svc/testing';\n"],
  ['boundaries', 'libs/b/src/charge.store.ts', "import pg from 'pg';\nimport './ring.js';\n"],
  ['boundaries', 'libs/b/src/comment.ts', "// import '@svc/c';\n/* export * from '@svc/c' */\nexport {};\n"],
  [
    'names',
    'libs/b/src/ok.store.ts',
    'export class ChargeStore {}\nexport interface Identity {}\nexport const implied = 1;\n',
  ],
  ['text', 'libs/b/src/fine.ts', '// A PostgreSQL session ends with its connection.\nexport {};\n'],
];

const folder = mkdtempSync(join(tmpdir(), 'svc-selftest-'));
const faults = [];

function write(path, text) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function writeProject(path, tag, references = []) {
  const name = `@svc/${path.split('/')[1]}`;
  const door = { 'svc-source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' };
  write(
    `${path}/package.json`,
    JSON.stringify({ name, private: true, type: 'module', exports: { '.': door }, nx: { tags: [tag] } }),
  );
  write(
    `${path}/tsconfig.build.json`,
    JSON.stringify({
      extends: '../../tsconfig.base.json',
      compilerOptions: { rootDir: 'src', outDir: 'dist' },
      include: ['src'],
      exclude: ['src/**/*.spec.ts', 'src/**/*.int.ts'],
      references: references.map((reference) => ({ path: `../../${reference}/tsconfig.build.json` })),
    }),
  );
  mkdirSync(join(folder, 'node_modules/@svc'), { recursive: true });
  symlinkSync(join(folder, path), join(folder, 'node_modules', name));
}

function writeWorkspace() {
  for (const file of ['.oxlintrc.json', 'tsconfig.base.json', 'tsconfig.json', 'nx.json']) {
    cpSync(join(workspace, file), join(folder, file));
  }
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['nx', 'vitest', 'undici-types', '@types'])
    symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  write(
    'package.json',
    JSON.stringify({ name: 'selftest', private: true, type: 'module', workspaces: ['libs/*', 'apps/*'] }),
  );
  write('README.md', 'x\n');
  writeProject('libs/a', 'contract');
  writeProject('libs/b', 'service', ['libs/a']);
  writeProject('libs/c', 'service', ['libs/a']);
  writeProject('libs/testing', 'testing', ['libs/a']);
  writeProject('apps/all', 'app', ['libs/a']);
  const references = ['libs/a', 'libs/b', 'libs/c', 'libs/testing', 'apps/all'].map((path) => ({
    path: `${path}/tsconfig.build.json`,
  }));
  write('tsconfig.build.json', JSON.stringify({ files: [], references }));
  write(
    'libs/a/src/index.ts',
    "export type Kind = 'x' | 'y';\nexport const later = async (): Promise<number> => 1;\n",
  );
  write('libs/c/src/index.ts', 'export const c = 1;\n');
  write('libs/b/src/index.ts', "import '@svc/a';\n");
}

function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error) throw result.error;
  return result;
}

function testLint() {
  for (const [, file, text] of lint) write(file, text);
  for (const [file, text] of permitted) write(file, text);
  run(join(modules, '.bin/tsc'), ['-b', 'libs/a']);
  const { status, stdout, stderr } = run(join(modules, '.bin/oxlint'), ['-f', 'json']);
  if (status === 0) faults.push('oxlint leaves with 0 in spite of errors');
  if (!stdout.startsWith('{')) throw new Error(`oxlint did not run: ${stdout}${stderr}`);
  const found = JSON.parse(stdout).diagnostics.map(({ code, filename }) => `${code} ${filename}`);
  for (const [rule, file] of lint)
    if (!found.includes(`${rule} ${file}`)) faults.push(`${rule} does not report ${file}`);
  for (const [file] of permitted) {
    for (const wrong of found.filter((entry) => entry.endsWith(` ${file}`)))
      faults.push(`not permitted, but should be: ${wrong}`);
  }
}

function testOwnChecks() {
  for (const [, file, text] of [...own, ...ownPermitted]) write(file, text);
  for (const check of ['boundaries', 'names', 'text', 'lockfile']) {
    const { status, stdout, stderr } = run(process.execPath, [
      join(import.meta.dirname, `check-${check}.mjs`),
      folder,
    ]);
    if (status !== 1) faults.push(`check-${check} leaves with ${status} in spite of faults: ${stderr}`);
    for (const [name, file, , report] of own) {
      if (name === check && !stdout.includes(report))
        faults.push(`check-${check} does not report ${file}: ${report}`);
    }
    for (const [name, file] of ownPermitted) {
      if (name === check && stdout.includes(file))
        faults.push(`check-${check} refuses ${file}, which is permitted`);
    }
  }
}

try {
  writeWorkspace();
  testLint();
  testOwnChecks();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const fault of faults) console.log(fault);
console.log(
  `${lint.length + own.length} violations and ${permitted.length + ownPermitted.length} permitted files tried`,
);
process.exit(faults.length === 0 ? 0 : 1);
