// Tools that check and publish the chart, the image and the workflows, from the Go module proxy at fixed
// versions, built once and cached like Kafka's jars.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { phase } from './phases.mjs';
import { DESCRIPTIONS, writeSchemas } from './schemas.mjs';

const run = promisify(execFile);

const BUILD_MS = 60 * 60_000;
const RUN_MS = 240_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** Each tool: its package and version, which Go verifies with its public checksums. */
const TOOLS = {
  helm: { program: 'helm.sh/helm/v4/cmd/helm', version: 'v4.2.4' },
  actionlint: { program: 'github.com/rhysd/actionlint/cmd/actionlint', version: 'v1.7.12' },
  crane: { program: 'github.com/google/go-containerregistry/cmd/crane', version: 'v0.20.6' },
  kubeconform: { program: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.7.0' },
  'kube-linter': {
    program: 'golang.stackrox.io/kube-linter/cmd/kube-linter',
    version: 'v0.8.3',
    // Its vanity import path is not on the proxy, but its repository is.
    module: 'golang.stackrox.io/kube-linter',
    source: 'github.com/stackrox/kube-linter',
  },
};

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc');
export const programOf = (name) => join(cache, `${name}-${TOOLS[name].version}`, name);

/** The folder with the schemas for these versions. */
export const SCHEMAS = join(cache, `schemas-${DESCRIPTIONS.map(([, version]) => version).join('-')}`);

const SOURCE = fileURLToPath(new URL('control-plane', import.meta.url));
const sourceHash = createHash('sha256');
for (const name of ['go.mod', 'go.sum', 'main.go']) sourceHash.update(readFileSync(join(SOURCE, name)));

/** Kubernetes' programs in one binary, built from these sources. */
export const CONTROL_PLANE = join(
  cache,
  `control-plane-${sourceHash.digest('hex').slice(0, 12)}`,
  'control-plane',
);

/** Fills a folder of the cache if it is missing. The folder gets its final name only when it is complete. */
async function make(folder, fill) {
  if (existsSync(folder)) return;
  await mkdir(cache, { recursive: true });
  const aside = await mkdtemp(join(cache, 'new-'));
  try {
    await phase(`Go builds ${basename(folder)}, which stays in ${cache}`, () => fill(aside));
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true });
    // Another run may have finished first.
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
  for (const [module] of DESCRIPTIONS) await writeSchemas(await descriptionsOf(module), folder);
}

export const buildTool = (name) => make(dirname(programOf(name)), (folder) => build(folder, TOOLS[name]));

/** Builds missing tools before the tests. */
export async function setup() {
  for (const name of Object.keys(TOOLS)) await buildTool(name);
  await make(SCHEMAS, describe);
}

/**
 * Builds Helm and Kubernetes if they are missing. Kubernetes' programs report the version of their module.
 */
export async function buildControlPlane() {
  await buildTool('helm');
  const [, version] = /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(SOURCE, 'go.mod'), 'utf8'));
  const stamp = `-X k8s.io/component-base/version.gitVersion=${version}`;
  await make(dirname(CONTROL_PLANE), (folder) =>
    go(SOURCE, ['build', `-ldflags=-s -w ${stamp}`, '-o', join(folder, 'control-plane'), '.']),
  );
}

/** The path of the descriptions of third-party resources. */
export async function descriptionsOf(module) {
  const [, version, path] = DESCRIPTIONS.find(([name]) => name === module);
  const { Dir: dir } = JSON.parse(await go(cache, ['mod', 'download', '-json', `${module}@${version}`]));
  return join(dir, path);
}

/** Runs a tool with this input. Throws its output if it fails. */
export async function tool(name, args, input = '') {
  const running = run(programOf(name), args, { timeout: RUN_MS, maxBuffer: OUTPUT_BYTES });
  running.child.stdin.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    throw new Error(`${error.stderr}${error.stdout}`, { cause: error });
  }
}
