// Proves that the checks can fail: a workspace with one violation per rule, each of which must be reported,
// and with permitted counterparts, none of which may be.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lint, permitted } from './selftest/lint-cases.mjs';
import { own, ownPermitted, roomTable } from './selftest/own-cases.mjs';

const workspace = join(import.meta.dirname, '..');
const modules = join(workspace, 'node_modules');

const folder = mkdtempSync(join(tmpdir(), 'svc-selftest-'));
const faults = [];

function write(path, text) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const nameOf = (path) => `@svc/${path.split('/')[1]}`;
const declared = (paths) => Object.fromEntries(paths.map((path) => [nameOf(path), '*']));

/** A project with a reference to each of its dependencies. */
function writeProject(path, tag, { needs = [], tested = [] } = {}) {
  const name = nameOf(path);
  const door = { 'svc-source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' };
  write(
    `${path}/package.json`,
    JSON.stringify({
      name,
      private: true,
      type: 'module',
      exports: { '.': door },
      dependencies: declared(needs),
      devDependencies: declared(tested),
      nx: { tags: [tag] },
    }),
  );
  write(
    `${path}/tsconfig.build.json`,
    JSON.stringify({
      extends: '../../tsconfig.base.json',
      compilerOptions: { rootDir: 'src', outDir: 'dist' },
      include: ['src'],
      exclude: ['src/**/*.spec.ts', 'src/**/*.int.ts'],
      references: needs.map((need) => ({ path: `../../${need}/tsconfig.build.json` })),
    }),
  );
  mkdirSync(join(folder, 'node_modules/@svc'), { recursive: true });
  symlinkSync(join(folder, path), join(folder, 'node_modules', name));
}

function writeWorkspace() {
  for (const file of ['.oxlintrc.json', 'tsconfig.base.json', 'tsconfig.json', 'nx.json']) {
    cpSync(join(workspace, file), join(folder, file));
  }
  cpSync(join(workspace, 'tools/lint'), join(folder, 'tools/lint'), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['nx', 'vitest', 'undici-types', '@types'])
    symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  write(
    'package.json',
    JSON.stringify({ name: 'selftest', private: true, type: 'module', workspaces: ['libs/*', 'apps/*'] }),
  );
  write('README.md', 'x\n');
  write('tools/rooms.mjs', roomTable);
  writeProject('libs/a', 'contract');
  writeProject('libs/b', 'service', { needs: ['libs/a'], tested: ['libs/testing', 'libs/c'] });
  writeProject('libs/c', 'service', { needs: ['libs/a'] });
  writeProject('libs/testing', 'testing', { needs: ['libs/a'] });
  writeProject('apps/all', 'app', { needs: ['libs/a'], tested: ['libs/c', 'libs/testing'] });
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
  for (const check of ['boundaries', 'rooms', 'names', 'walk', 'text', 'lockfile', 'migrations']) {
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
