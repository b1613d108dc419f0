// Violations of the workspace's own checks, one per rule, and permitted files.
const lines = (count, line) => `${line}\n`.repeat(count);

/** Violations of the other checks: the check, the file, its text, what its report must contain. */
export const own = [
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
  ['boundaries', 'libs/b/src/testing.ts', "import '@svc/testing';\n", 'only tests may import @svc/testing'],
  ['boundaries', 'libs/b/src/port.conformance.ts', 'export {};\n', 'test support belongs in libs/b/test'],
  ['boundaries', 'libs/b/src/inner.ts', "import '@svc/a/inner';\n", '@svc/a does not export ./inner'],
  ['boundaries', 'libs/b/src/self.ts', "import '@svc/b';\n", 'inside a project import by a relative path'],
  ['boundaries', 'libs/b/src/unknown.ts', "import '@svc/nowhere';\n", 'there is no project @svc/nowhere'],
  ['boundaries', 'libs/b/src/around.ts', "import '../../c/src/index.js';\n", 'leaves libs/b'],
  ['boundaries', 'libs/b/src/star.ts', "export * from './ring.js';\n", 'export * is forbidden'],
  ['boundaries', 'libs/b/src/query.ts', "import pg from 'pg';\n", 'only a .store file may import pg'],
  ['boundaries', 'libs/a/src/ring.ts', "import '@svc/b';\n", 'in a ring'],
  ['rooms', 'libs/b/src/deep/file.ts', 'export {};\n', 'tools/rooms.mjs knows no room deep in b'],
  ['rooms', 'libs/c/src/deep/file.ts', 'export {};\n', 'tools/rooms.mjs knows no room deep in c'],
  [
    'rooms',
    'libs/b/src/low/up.ts',
    "import type {\n  X,\n} from '../high/x.js';\n",
    'low/up.ts:3: in b the room low may not import high',
  ],
  [
    'rooms',
    'libs/b/src/side/over.ts',
    "export const x = import('../low/fine.js');\n",
    'room side may not import low',
  ],
  ['rooms', 'libs/b/src/low/root.ts', "import '../index.js';\n", 'a room may not import libs/b/src/index.ts'],
  ['rooms', 'libs/b/src/b.config.ts', "import './high/x.js';\n", 'b.config.ts:1: rooms import this file'],
  [
    'rooms',
    'libs/b/src/low/tested.ts',
    "import '../../test/sample.js';\n",
    'only tests may import what is in test/',
  ],
  ['rooms', 'libs/b/test/deep/sample.ts', 'export {};\n', 'libs/b/test has no folders'],
  [
    'rooms',
    'libs/a/src/ring/x.ts',
    'export {};\n',
    'a: ring may only import rooms that stand before it, not late',
  ],
  ['rooms', 'libs/a/src/late/x.ts', 'export {};\n', 'a: late/inner is a room inside a room'],
  ['rooms', 'libs/contracts/src/index.ts', 'export {};\n', 'in contracts nothing in http/b imports http/a'],
  ['rooms', 'libs/contracts/src/http/a/x.ts', 'export {};\n', 'contracts has no room http/b'],
  ...Array.from({ length: 21 }, (_, count) => [
    'rooms',
    `libs/b/src/full/x${count}.ts`,
    'export {};\n',
    'libs/b/src/full: has 21 files, 20 are allowed',
  ]),
  ...Array.from({ length: 21 }, (_, count) => [
    'rooms',
    `libs/c/src/x${count}.ts`,
    'export {};\n',
    'libs/c/src: has 22 files, 20 are allowed',
  ]),
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
  ['text', 'libs/b/src/default.ts', `// Ten unless ${'told'}.\n`, 'default.ts:1: '],
  ['text', 'libs/b/src/unclear.ts', `// Stops for${' good'}.\n`, 'unclear.ts:1: '],
  ['text', 'libs/b/unclear.md', `It can${' not'} stop.\n`, 'unclear.md:1: '],
  ['text', 'libs/b/src/broad.ts', `// ${'word '.repeat(25)}\n`, 'broad.ts:1: '],
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
  [
    'migrations',
    'prisma/migrations/0101_a/migration.sql',
    'DROP TABLE x;\n',
    '0101_a/migration.sql:1: takes away',
  ],
  [
    'migrations',
    'prisma/migrations/0102_b/migration.sql',
    'ALTER TABLE x DROP COLUMN y;\n',
    '0102_b/migration.sql:1: takes away',
  ],
  [
    'migrations',
    'prisma/migrations/0103_c/migration.sql',
    'ALTER TABLE x RENAME COLUMN y TO z;\n',
    '0103_c/migration.sql:1: renames',
  ],
  [
    'migrations',
    'prisma/migrations/0104_d/migration.sql',
    'ALTER TABLE x ALTER COLUMN y TYPE text;\n',
    '0104_d/migration.sql:1: changes a type',
  ],
  [
    'migrations',
    'prisma/migrations/0105_e/migration.sql',
    'ALTER TABLE x ALTER COLUMN y SET NOT NULL;\n',
    '0105_e/migration.sql:1: refuses rows',
  ],
  [
    'migrations',
    'prisma/migrations/0106_f/migration.sql',
    'ALTER TABLE x ADD COLUMN y int NOT NULL;\n',
    '0106_f/migration.sql:1: needs a column',
  ],
];

/** Permitted by the other checks: the check, the file, its text. No report may name the file. */
export const ownPermitted = [
  [
    'migrations',
    'prisma/migrations/0111_adds/migration.sql',
    '-- DROP TABLE is for later\nALTER TABLE x ADD COLUMN y int NOT NULL DEFAULT 0, ADD COLUMN z text;\n',
  ],
  ['migrations', 'prisma/migrations/0112_contracts/migration.sql', '-- contracts: 0.2.0\nDROP TABLE x;\n'],
  ['boundaries', 'libs/b/src/fake.spec.ts', "import '@svc/testing';\nimport '@svc/a';\n"],
  ['boundaries', 'apps/all/test/e2e/whole.e2e.ts', "import '@svc/c';\nimport '@svc/testing';\n"],
  ['boundaries', 'libs/b/src/charge.store.ts', "import pg from 'pg';\nimport './ring.js';\n"],
  ['boundaries', 'libs/b/src/comment.ts', "// import '@svc/c';\n/* export * from '@svc/c' */\nexport {};\n"],
  ['rooms', 'libs/b/src/low/fine.ts', "import '../b.config.js';\nimport './x.js';\n"],
  ['rooms', 'libs/b/src/high/down.ts', "import '../low/fine.js';\n"],
  ['rooms', 'libs/b/src/top.ts', "import './low/fine.js';\nimport './high/down.js';\n"],
  ['rooms', 'libs/b/src/low/up.spec.ts', "import '../high/x.js';\nimport '../../test/sample.js';\n"],
  ['rooms', 'libs/b/test/sample.ts', "import '../src/high/x.js';\n"],
  ['rooms', 'libs/contracts/src/http/a/y.ts', 'export {};\n'],
  ...Array.from({ length: 21 }, (_, count) => ['rooms', `libs/b/src/low/x${count}.spec.ts`, 'export {};\n']),
  [
    'names',
    'libs/b/src/ok.store.ts',
    'export class ChargeStore {}\nexport interface Identity {}\nexport const implied = 1;\n',
  ],
  ['text', 'libs/b/src/url.ts', `// https://example.com/${'long-'.repeat(25)}\nexport {};\n`],
  ['text', 'libs/b/src/fine.ts', '// A PostgreSQL session ends with its connection.\nexport {};\n'],
];

/** The rooms of the test workspace. */
export const roomTable = `
export const maxFiles = 20;
export const rooms = {
  a: { ring: ['late'], late: [], 'late/inner': [] },
  b: { '.': ['b.config'], low: [], side: [], high: ['low'], full: [] },
  contracts: { 'http/a': [], 'http/b': ['http/a'] },
};
`;
