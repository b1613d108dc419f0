// The code of the last release, built: `node tools/release/last-release.mjs` prints its folder. Tests run it
// beside the current code. It is the newest tag before this commit or, where no release is tagged, the commit
// below.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc');

/** Version 0.1.0, which has no tag. */
const UNTAGGED = '7e0b80529f46ae2d7d5e8bc90a2a43495776d910';

const BUILD_MS = 30 * 60_000;

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', timeout: BUILD_MS, ...options });
  if (result.status === 0) return result.stdout.trim();
  const why = result.error?.message ?? `${result.stdout}${result.stderr}`.slice(-4_000);
  throw new Error(`${command} ${args.join(' ')}: ${why}`);
}

const git = (...args) => run('git', args);

/** The commit of the last release. Throws if the history does not have it. */
export function lastRelease() {
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-v:refname');
  const [tag] = tags.split('\n');
  const wanted = tag === '' ? UNTAGGED : tag;
  try {
    return git('rev-parse', '--verify', '--quiet', `${wanted}^{commit}`);
  } catch {
    throw new Error(
      `the last release, ${wanted}, is not in this repository: it needs the whole history (git fetch --unshallow --tags)`,
    );
  }
}

/** Checks out, installs and builds the last release, unless that was done before; returns its folder. */
export function buildLastRelease() {
  const commit = lastRelease();
  const folder = join(cache, `release-${commit.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const aside = mkdtempSync(join(cache, 'new-'));
  try {
    const archive = join(aside, 'source.tar');
    git('archive', '--output', archive, commit);
    run('tar', ['-C', aside, '-xf', archive]);
    rmSync(archive);
    const npm = { cwd: aside, env: { ...process.env, NX_DAEMON: 'false' } };
    run('npm', ['ci'], npm);
    run('npm', ['run', '--silent', 'build'], npm);
    renameSync(aside, folder);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

if (import.meta.main) console.log(buildLastRelease());
