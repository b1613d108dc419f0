// `npm run check -- [names]`: runs all checks or the named ones, two at a time, and prints at most 30 lines
// for each that fails. A script in package.json named `check:…` is a check too. Ends with `N passed, N
// failed`.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { MOST_LINES, bounded } from './step-results.mjs';

const root = join(import.meta.dirname, '..');
const atOnce = 2;
const deadlineMs = 5 * 60_000;

const env = {
  ...process.env,
  PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
  NO_COLOR: '1',
  NX_DAEMON: 'false',
};
delete env.FORCE_COLOR;

/** Checks in starting order. `after` names a check that must have ended, regardless of its result. */
const all = [
  { name: 'types', commands: ['node tools/build.mjs', 'tsc -p tsconfig.json'] },
  { name: 'format', commands: ['prettier --check --cache --log-level warn .'] },
  { name: 'boundaries', commands: ['node tools/check-boundaries.mjs'] },
  { name: 'rooms', commands: ['node tools/check-rooms.mjs'] },
  { name: 'names', commands: ['node tools/check-names.mjs'] },
  { name: 'text', commands: ['node tools/check-text.mjs'] },
  { name: 'lockfile', commands: ['node tools/check-lockfile.mjs'] },
  { name: 'the checks themselves', commands: ['node tools/check.selftest.mjs'] },
  // Tests and generated code are type-checked against the declarations that the build writes.
  { name: 'lint', commands: ['oxlint --format unix'], after: 'types' },
  { name: 'unused', commands: ['knip --no-progress --no-config-hints'], after: 'types' },
  ...scriptChecks(),
];
const named = process.argv.slice(2);
const unknown = named.filter((name) => !all.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(`Unknown check ${unknown.join(', ')}. Checks: ${all.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const checks = all.filter(({ name }) => named.length === 0 || named.includes(name));
const isChosen = (name) => checks.some((check) => check.name === name);

function scriptChecks() {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = Object.keys(scripts).filter((name) => name.startsWith('check:'));
  return names.map((name) => ({
    name: name.slice('check:'.length),
    commands: [`npm run --silent ${name}`],
    after: 'types',
  }));
}

/** Runs a command until it ends or its deadline passes: `{ code, output }`. */
function run(command) {
  return new Promise((resolve) => {
    const [program, ...args] = command.split(' ');
    const options = {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
    };
    const child = spawn(program, args, { ...options, shell: process.platform === 'win32' });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => resolve({ code: 1, output: `${program}: ${error.message}` }));
    child.on('close', (code, signal) =>
      resolve({ code, output: signal ? `${output}\nstopped by ${signal}` : output }),
    );
  });
}

/** Runs a check and prints its line, with the output if it failed. */
async function runCheck({ name, commands }) {
  const start = performance.now();
  const failures = [];
  for (const command of commands) {
    const { code, output } = await run(command);
    if (code !== 0) failures.push(`$ ${command}\n${output.trim()}`);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${failures.length === 0 ? 'ok  ' : 'FAIL'}  ${name} (${seconds} s)`);
  const text = bounded(failures.join('\n'), MOST_LINES - 1);
  if (text !== '') console.log(text.replaceAll(/^(?=.)/gm, '      '));
  return failures.length === 0;
}

/** Starts checks when a slot is free and their predecessors have ended. */
async function runAll() {
  const waiting = [...checks];
  const running = new Map();
  const ended = new Map();
  while (ended.size < checks.length) {
    const next = waiting.find(({ after }) => !isChosen(after) || ended.has(after));
    if (next && running.size < atOnce) {
      waiting.splice(waiting.indexOf(next), 1);
      running.set(
        next.name,
        runCheck(next).then((passed) => ({ name: next.name, passed })),
      );
      continue;
    }
    const { name, passed } = await Promise.race(running.values());
    running.delete(name);
    ended.set(name, passed);
  }
  return [...ended.values()];
}

const results = await runAll();
const passed = results.filter(Boolean).length;
console.log(`${passed} passed, ${results.length - passed} failed`);
process.exitCode = passed === results.length ? 0 : 1;
