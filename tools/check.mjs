// `npm run check -- [names]`: runs all checks or the named ones with Nx, which skips those whose inputs have
// not changed since they passed. project.json lists the checks and their inputs. Prints at most 30 lines for
// each that fails, and ends with `N passed, N failed`.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { MOST_LINES, bounded } from './step-results.mjs';

const root = join(import.meta.dirname, '..');
const cache = join(root, '.nx/cache');
const PROJECT = 'svc';
const deadlineMs = 10 * 60_000;
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

const all = readJson(join(root, 'project.json')).targets.check.dependsOn;
const named = process.argv.slice(2);
const unknown = named.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown check ${unknown.join(', ')}. Checks: ${all.join(', ')}`);
  process.exit(2);
}
const checks = named.length > 0 ? named : all;

/** Runs the checks, and prints those that pass at once. Returns what Nx printed. */
async function run() {
  const nx = join(root, 'node_modules/nx/dist/bin/nx.js');
  const args = [
    'run-many',
    `--projects=${PROJECT}`,
    `--targets=${checks}`,
    '--outputStyle=static-failures-only',
  ];
  const child = spawn(process.execPath, [nx, ...args], {
    cwd: root,
    env: { ...process.env, NX_TUI: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineMs,
  });
  const lines = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  for await (const line of createInterface({ input: child.stdout })) {
    const text = stripVTControlCharacters(line);
    lines.push(text);
    const [, name, cached] = /^✔ +nx run svc:(\S+)( +\[.*cache.*\])?/.exec(text) ?? [];
    if (checks.includes(name)) console.log(`ok    ${name}${cached ? ' (unchanged)' : ''}`);
  }
  return lines;
}

/** The results of the tasks that ran, by name. */
function resultsSince(startMs) {
  const { run: last, tasks } = readJson(join(cache, 'run.json'));
  if (Date.parse(last.startTime) < startMs) throw new Error('Nx did not run');
  return new Map(tasks.map((task) => [task.target, task]));
}

/** Prints a check that failed, with the end of its output. */
function printFailure(name, hash) {
  const output = readFileSync(join(cache, 'terminalOutputs', hash), 'utf8').replaceAll('\r', '');
  console.log(`FAIL  ${name}`);
  console.log(
    bounded(stripVTControlCharacters(output).trim(), MOST_LINES - 1).replaceAll(/^(?=.)/gm, '      '),
  );
}

const startMs = Date.now();
const printed = await run();
try {
  const results = resultsSince(startMs);
  const failed = [...results].filter(([, { status }]) => status !== 0);
  for (const [name, { hash }] of failed) printFailure(name, hash);
  const missing = checks.filter((name) => !results.has(name));
  if (missing.length > 0) console.log(`Not run, because the build failed: ${missing.join(', ')}`);
  const passed = checks.filter((name) => results.get(name)?.status === 0).length;
  console.log(`${passed} passed, ${checks.length - passed} failed`);
  process.exitCode = passed === checks.length ? 0 : 1;
} catch (error) {
  console.log(printed.join('\n'));
  throw error;
}
