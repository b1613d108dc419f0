// Generates the Prisma client, compiles every project, records the build time and bundles the apps. All steps
// are incremental, and a build without changes writes nothing.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { appBundles, writeBundles } from './bundle.mjs';
import { consoleSources, writeConsole } from './console.mjs';

const root = join(import.meta.dirname, '..');
const startMs = Date.now();
const steps = [];

/** Runs a program of this workspace and stops the build if it fails. */
function run(command, args) {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Removes what was compiled from files that are gone: a fresh clone does not have it. */
function removeOrphans(project) {
  const compiled = { cwd: join(project, 'dist'), exclude: ['assets/**'] };
  for (const path of globSync('**/*.{js,d.ts,js.map,d.ts.map}', compiled)) {
    const stem = join(project, 'src', path.replace(/\.(?:js|d\.ts)(?:\.map)?$/, ''));
    if (!existsSync(`${stem}.ts`) && !existsSync(`${stem}.tsx`)) rmSync(join(project, 'dist', path));
  }
}

run(process.execPath, ['tools/generate-prisma.mjs']);
run('tsc', ['-b', 'tsconfig.build.json']);

// The version is the time of the newest compiled project, so a build that changes nothing keeps it.
const projects = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')).references;
const compiledMs = projects.map(
  ({ path }) => statSync(join(root, dirname(path), 'dist/tsconfig.tsbuildinfo')).mtimeMs,
);
const builtMs = Math.max(...compiledMs);
if (builtMs >= startMs) {
  steps.push(`compiled ${compiledMs.filter((ms) => ms >= startMs).length} projects`);
  for (const { path } of projects) removeOrphans(join(root, dirname(path)));
}
const [date, time] = new Date(builtMs).toISOString().split('T');
const version = `${date.replaceAll('-', '')}.${time.slice(0, 8).replaceAll(':', '')}`;
const versionFile = join(root, 'libs/runtime/dist/version.txt');
if (!existsSync(versionFile) || readFileSync(versionFile, 'utf8') !== version)
  writeFileSync(versionFile, version);

/**
 * Writes bundles unless they are made of the same files as before: the compiled code, the packages, and those
 * given. What they were made of is recorded last, once they are complete.
 */
async function bundle({ folder, sources, write, step }) {
  const madeOfFile = join(root, folder, 'made-of.txt');
  const timesMs = ['package-lock.json', ...sources].map((path) => statSync(join(root, path)).mtimeMs);
  const madeOf = [builtMs, ...timesMs].join(' ');
  if (existsSync(madeOfFile) && readFileSync(madeOfFile, 'utf8') === madeOf) return;
  await write();
  writeFileSync(madeOfFile, madeOf);
  steps.push(step);
}

await bundle({
  folder: 'dist',
  sources: ['tools/bundle.mjs'],
  step: 'bundled the apps',
  write: async () => {
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    await writeBundles(appBundles());
  },
});
await bundle({
  folder: 'libs/console/dist',
  sources: ['tools/console.mjs', ...consoleSources],
  step: 'bundled the console',
  write: writeConsole,
});

const seconds = ((Date.now() - startMs) / 1000).toFixed(1);
// Not to stdout, which belongs to the command for which this builds.
console.error(`Build: ${steps.length === 0 ? 'nothing to do' : steps.join(', ')} (${seconds} s)`);
