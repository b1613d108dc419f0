// `npm run nightly -- [--list] [--fresh] [parts]`: tests that take too long for CI, mainly randomised ones.
// Remembers the parts that passed on this commit, with the same uncommitted changes, and skips them in the
// next run. `--fresh` forgets them. Ends with `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Steps } from './run-steps.mjs';

const PARTS = {
  long: {
    about: 'every test that repeats what chance decides, and the hostile clients and backends',
    script: 'test:long',
  },
  cluster: {
    about: 'every test of clusters, and every end-to-end test on them, of which CI runs a part',
    script: 'test:cluster',
  },
  schemathesis: {
    about: 'the public and the operator’s API against its description, with each corner of each schema',
    script: 'test:clients',
    args: ['schemathesis'],
    env: { SVC_TEST_FORM: 'long' },
  },
  mutations: {
    about: 'the hostile tests against deliberate faults, each of which they must detect',
    script: 'test:mutations',
    isCounted: true,
  },
  histories: {
    about: '200,000 random histories of the ledger',
    script: 'test:histories',
    env: { HISTORIES: '200000' },
  },
  kills: {
    about: '500 times `kill -9` under load',
    script: 'test:more',
    args: ['apps/all/test/fault/killed-under-load.fault.ts'],
    env: { KILLS: '500' },
  },
  backends: {
    about:
      'llama-cpp-python and whisper.cpp as backends, which are compiled first, with cmake and a C++ compiler',
    script: 'test:backends',
  },
  servers: {
    about:
      'a LiteLLM proxy, vLLM, transformers serve and llama-cpp-python as backends, 7 GB of packages from PyPI; stable-diffusion.cpp, which is compiled first',
    script: 'test:servers',
  },
  upgrade: {
    about: 'the last release beside the current one on the same data under load, forwards and back',
    script: 'test:upgrade',
  },
  helm: {
    about: 'the Helm chart on a Kubernetes control plane, which Go builds first',
    script: 'test:helm:cluster',
  },
};
const PART_SECONDS = 3 * 3_600;
const FILE = '.svc/nightly.json';

function git(...args) {
  const options = { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 };
  const { status, stdout, stderr, error } = spawnSync('git', args, options);
  if (status !== 0) throw new Error(`git ${args[0]}: ${error?.message ?? stderr}`);
  return stdout;
}

/** The tested tree: the commit and the uncommitted changes. */
function treeHash() {
  const hash = createHash('sha256');
  for (const args of [
    ['rev-parse', 'HEAD'],
    ['diff', 'HEAD'],
    ['status', '--porcelain'],
  ])
    hash.update(git(...args));
  return hash.digest('hex');
}

/** The results of the parts that passed on this tree. */
function remembered(tree) {
  try {
    const state = JSON.parse(readFileSync(FILE, 'utf8'));
    return state.tree === tree ? state.results : {};
  } catch {
    return {};
  }
}

const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean' }, fresh: { type: 'boolean' } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !Object.hasOwn(PARTS, name));
if (values.list || unknown.length > 0) {
  if (unknown.length > 0) console.error(`Unknown part ${unknown.join(', ')}. The parts are:`);
  for (const [name, { about }] of Object.entries(PARTS)) console.log(`${name.padEnd(10)} ${about}`);
  process.exit(values.list ? 0 : 2);
}
const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
const steps = new Steps({ seconds: names.length * PART_SECONDS });
const tree = treeHash();
const results = values.fresh ? {} : remembered(tree);
for (const name of names) {
  if (results[name]) {
    console.log(`== ${name} passed before on this commit`);
    steps.add(results[name]);
    continue;
  }
  const { isCounted, ...part } = PARTS[name];
  const result = await steps[isCounted ? 'counted' : 'tests']({ name, seconds: PART_SECONDS, ...part });
  if (result.failed > 0) continue;
  results[name] = result;
  mkdirSync('.svc', { recursive: true });
  writeFileSync(FILE, JSON.stringify({ tree, results }));
}
process.exitCode = steps.finish() ? 0 : 1;
