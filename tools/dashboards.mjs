// Generates the chart's dashboards and alerts from tools/observe; compose.yaml mounts the same files.
// `--check` fails if they are stale, if an alert has no runbook, or if promtool finds that an alert fires at
// the wrong time or not at all. Needs the build.
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ALERTS } from './observe/alerts.mjs';
import { boardJson } from './observe/board-json.mjs';
import { BOARDS } from './observe/boards.mjs';
import { ruleTests, rulesText } from './observe/rules.mjs';
import { scopedToRelease } from './observe/scope.mjs';

const root = join(import.meta.dirname, '..');
const FILES = 'deploy/charts/platform/files';
const ALERTS_DIR = `${FILES}/alerts`;
const BOARDS_DIR = `${FILES}/dashboards`;
const RULES = `${ALERTS_DIR}/svc.rules.yml`;
const RUNBOOKS_DIR = 'deploy/runbooks';

const made = new Map([
  ...Object.entries(BOARDS).map(([name, board]) => [`${BOARDS_DIR}/${name}.json`, boardJson(name, board)]),
  [RULES, rulesText()],
]);

const filesIn = (dir) => (existsSync(join(root, dir)) ? readdirSync(join(root, dir)) : []);
const leftOver = () =>
  [ALERTS_DIR, BOARDS_DIR]
    .flatMap((dir) => filesIn(dir).map((name) => `${dir}/${name}`))
    .filter((path) => !made.has(path));

function write() {
  for (const path of leftOver()) rmSync(join(root, path));
  for (const [path, text] of made) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Queries in a runbook that would also show other deployments' series. */
const unscopedIn = (text) =>
  Array.from(text.matchAll(/\bask '([^']+)'/g), ([, query]) => query).filter(
    (query) => query !== scopedToRelease(query.replaceAll(/,?release="svc"/g, '').replaceAll('{}', '')),
  );

/** A runbook must contain its alert, and commands. */
function runbookFaults() {
  const names = new Set(ALERTS.map(({ runbook }) => `${runbook}.md`));
  const unused = filesIn(RUNBOOKS_DIR).filter((name) => name !== 'README.md' && !names.has(name));
  return [
    ...unused.map((name) => `${RUNBOOKS_DIR}/${name}: no alert leads to it`),
    ...ALERTS.flatMap(({ name, runbook }) => {
      const path = `${RUNBOOKS_DIR}/${runbook}.md`;
      if (!existsSync(join(root, path))) return [`${path}: is missing, for ${name}`];
      const text = readFileSync(join(root, path), 'utf8');
      return [
        ...(text.includes(name) ? [] : [`${path}: does not name ${name}`]),
        ...(text.includes('```sh') ? [] : [`${path}: has no commands`]),
        ...unscopedIn(text).map((query) => `${path}: a selector without release="svc": ${query}`),
      ];
    }),
  ];
}

/** The faults that promtool finds; undefined if it is not installed. */
async function promtool(cwd, args) {
  const options = { cwd, encoding: 'utf8', timeout: 900_000 };
  try {
    await promisify(execFile)('promtool', args, options);
    return [];
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    return [
      `promtool ${args.join(' ')}: ${error.killed ? 'took too long ' : ''}${error.stdout}${error.stderr}`,
    ];
  }
}

/** The faults of the rules, by the moments at which their alerts have to fire. */
async function ruleFaults() {
  const dir = mkdtempSync(join(tmpdir(), 'svc-rules-'));
  try {
    const tests = ruleTests();
    const files = { ...tests, 'svc.rules.yml': rulesText() };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    const rules = await promtool(dir, ['check', 'rules', 'svc.rules.yml']);
    if (rules === undefined) {
      console.log('promtool is missing: THE RULES ARE NOT TESTED');
      return [];
    }
    // Run in parallel, because each takes a while.
    const faults = Object.keys(tests).map((name) => promtool(dir, ['test', 'rules', name]));
    return [...rules, ...(await Promise.all(faults)).flat()];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function check() {
  const differing = [...made].filter(
    ([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text,
  );
  const faults = [
    ...[...differing.map(([path]) => path), ...leftOver()].map(
      (path) => `${path}: does not match tools/observe; update it with: npm run dashboards`,
    ),
    ...runbookFaults(),
    ...(await ruleFaults()),
  ];
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

if (process.argv.includes('--check')) await check();
else write();
