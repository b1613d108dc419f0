// Tools that judge the chart, from the Go module proxy at fixed versions, built once and kept as Kafka's jars are.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { DESCRIPTIONS, writeSchemas } from './schemas.mjs';

const run = promisify(execFile);

const BUILD_MS = 60 * 60_000;
const RUN_MS = 240_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** Each tool: its package and version, which Go holds against its public checksums. */
const TOOLS = {
  helm: { program: 'helm.sh/helm/v4/cmd/helm', version: 'v4.2.4' },
  kubeconform: { program: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.7.0' },
  'kube-linter': {
    program: 'golang.stackrox.io/kube-linter/cmd/kube-linter',
    version: 'v0.8.3',
    // Its own name is served by its makers alone; its repository is in Go's mirror.
    module: 'golang.stackrox.io/kube-linter',
    source: 'github.com/stackrox/kube-linter',
  },
};

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc');
const programOf = (name) => join(cache, `${name}-${TOOLS[name].version}`, name);

/** The folder with the schemas of these versions. */
export const SCHEMAS = join(cache, `schemas-${DESCRIPTIONS.map(([, version]) => version).join('-')}`);

/** Fills a folder that is not there yet. It has its place only once it is whole. */
async function make(folder, fill) {
  if (existsSync(folder)) return;
  await mkdir(cache, { recursive: true });
  const aside = await mkdtemp(join(cache, 'new-'));
  try {
    await fill(aside);
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true });
    // Another run may have been first.
    if (!existsSync(folder)) throw error;
  }
}

async function go(folder, args, environment = {}) {
  const env = { ...process.env, GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0', ...environment };
  return (await run('go', args, { cwd: folder, env, timeout: BUILD_MS, maxBuffer: OUTPUT_BYTES })).stdout;
}

/** Builds a program into a folder. */
async function build(folder, { program, version, module, source }) {
  const stripped = '-ldflags=-s -w';
  if (!module) return go(folder, ['install', stripped, `${program}@${version}`], { GOBIN: folder });
  await go(folder, ['mod', 'init', 'tool']);
  await go(folder, [
    'mod',
    'edit',
    `-require=${module}@${version}`,
    `-replace=${module}=${source}@${version}`,
  ]);
  return go(folder, ['build', '-mod=mod', stripped, program]);
}

async function describe(folder) {
  for (const [module, version, path] of DESCRIPTIONS) {
    const { Dir: dir } = JSON.parse(await go(folder, ['mod', 'download', '-json', `${module}@${version}`]));
    await writeSchemas(join(dir, path), folder);
  }
}

/** Builds what is missing, before the tests. */
export async function setup() {
  for (const [name, of] of Object.entries(TOOLS))
    await make(dirname(programOf(name)), (folder) => build(folder, of));
  await make(SCHEMAS, describe);
}

/** Runs a tool with this input. Throws with what it wrote where it fails. */
export async function tool(name, args, input = '') {
  const running = run(programOf(name), args, { timeout: RUN_MS, maxBuffer: OUTPUT_BYTES });
  running.child.stdin.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    throw new Error(`${error.stderr}${error.stdout}`, { cause: error });
  }
}
