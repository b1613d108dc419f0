// The lock file must list every optional dependency, including those of other platforms; otherwise `npm ci`
// rejects it. npm omits packages that its registry does not have. It must also have a link to each project
// and repeat the dependencies of the projects on each other. `--write` adds what is missing.
import { globSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { finish, read, readJson, root } from './check-sources.mjs';

const systems = ['darwin', 'freebsd', 'linux', 'win32', 'android', 'openharmony', 'sunos', 'aix'];
const processors = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 'loong64', 's390x', 'wasm32'];

const lock = JSON.parse(read('package-lock.json'));

/** True if Node's module resolution from a package finds the dependency in the lock file. */
function isLocked(from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (lock.packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
}

function missing() {
  return Object.entries(lock.packages).flatMap(([from, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !isLocked(from, name))
      .map(([name, version]) => ({ name, version, dev: entry.dev })),
  );
}

/** The entry for a package that this platform never installs. Its platform is derived from its name. */
function entryOf({ name, version, dev }) {
  const words = name.split(/[-/]/);
  const os = systems.find((word) => words.includes(word));
  // Go's name for the architecture.
  const cpu = words.includes('amd64') ? 'x64' : processors.find((word) => words.includes(word));
  if (!os || !cpu || !/^\d/.test(version))
    throw new Error(`${name}@${version} does not name one platform; add it by hand`);
  const musl = words.some((word) => word.startsWith('musl'));
  const libc = musl ? ['musl'] : os === 'linux' ? ['glibc'] : undefined;
  return { version, cpu: [cpu], dev, libc, optional: true, os: [os] };
}

const declared = ({ dependencies, devDependencies } = {}) => ({ dependencies, devDependencies });

const linkNameOf = (folder) => `node_modules/${readJson(`${folder}/package.json`).name}`;
const linkOf = (folder) => ({ resolved: folder, link: true });

/** The folders of projects whose entries differ from their `package.json`, or that have no link. */
function outdated() {
  const { workspaces } = readJson('package.json');
  const files = globSync(
    workspaces.map((pattern) => `${pattern}/package.json`),
    { cwd: root },
  );
  const folders = files.map((file) => posix.dirname(file.replaceAll('\\', '/'))).toSorted();
  return folders.filter(
    (folder) =>
      !isDeepStrictEqual(declared(lock.packages[folder]), declared(readJson(`${folder}/package.json`))) ||
      !isDeepStrictEqual(lock.packages[linkNameOf(folder)], linkOf(folder)),
  );
}

const gaps = missing();
const stale = outdated();
if (process.argv.includes('--write')) {
  for (const gap of gaps) lock.packages[`node_modules/${gap.name}`] = entryOf(gap);
  for (const folder of stale) {
    const { name, version } = readJson(`${folder}/package.json`);
    lock.packages[folder] = { name, version, ...declared(readJson(`${folder}/package.json`)) };
    lock.packages[`node_modules/${name}`] = linkOf(folder);
  }
  const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${gaps.length} entries added, ${stale.length} updated`);
} else {
  const names = gaps.map(({ name }) => name).join(', ');
  const remedy = 'run node tools/check-lockfile.mjs --write';
  finish([
    ...(gaps.length === 0 ? [] : [`package-lock.json: lacks ${gaps.length}; ${remedy} (${names})`]),
    ...stale.map((folder) => `package-lock.json: differs from ${folder}/package.json; ${remedy}`),
  ]);
}
