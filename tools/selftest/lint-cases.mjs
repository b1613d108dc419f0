// Violations of the lint rules, one per rule, and permitted code.
const lines = (count, line) => `${line}\n`.repeat(count);

/** Lint violations: the rule as oxlint names it, the file, its text. */
export const lint = [
  ['eslint(max-lines)', 'libs/b/src/long.ts', lines(401, '// why')],
  ['eslint(max-lines)', 'libs/b/src/long.spec.ts', lines(401, '// why')],
  [
    'eslint(max-lines-per-function)',
    'libs/b/src/tall.ts',
    `export function f(): void {\n${lines(70, '  f();')}}\n`,
  ],
  [
    'svc(max-params)',
    'libs/b/src/wide.ts',
    'export const f = (a: 1, b: 1, c: 1, d: 1): number[] => [a, b, c, d];\n',
  ],
  [
    'svc(max-params)',
    'libs/b/src/build.ts',
    `export class X { constructor(${[...'abcdefgh'].map((name) => `readonly ${name}: 1`).join(', ')}) {} }\n`,
  ],
  [
    'svc(no-assigned-function)',
    'libs/b/src/assigned.ts',
    'export const f = (a: { b?: () => number }, c: number): void => {\n  a.b = () => c;\n};\n',
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
  [
    'eslint(no-restricted-properties)',
    'libs/b/src/parsed.ts',
    'export const f = (text: string): unknown => JSON.parse(text) as unknown;\n',
  ],
  [
    'eslint(no-restricted-properties)',
    'libs/b/src/parser.ts',
    'const { parse } = JSON;\nexport const f = (text: string): unknown => parse(text) as unknown;\n',
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
    'libs/b/src/one-type.ts',
    "import type { B } from './other-type.js';\nexport type A = B | 1;\n",
  ],
  [
    'import(no-cycle)',
    'libs/b/src/other-type.ts',
    "import type { A } from './one-type.js';\nexport type B = A[];\n",
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

/** Permitted code. No diagnostic may name these files. */
export const permitted = [
  [
    'libs/b/src/injected.ts',
    `export class Y { constructor(${[...'abcdefg'].map((name) => `readonly ${name}: 1`).join(', ')}) {} }\n`,
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
