// `npm run test:mutations -- [names]`: runs hostile tests against a service with one deliberate fault at a
// time, and fails if the test still passes. Ends with `N passed, N failed`. `--check` only checks that each
// fault can be injected into the built code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutantVariable } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const deadlineMs = 10 * 60_000;
const TRIES = 4;
/** A test spends half of its time waiting. */
const AT_ONCE = 2;

/** Why the mutant cannot be created, or undefined if it can. */
function mismatchOf({ module, find }) {
  const found = readFileSync(join(root, module), 'utf8').split(find).length - 1;
  return found === 1 ? undefined : `${module} has the text ${found} times`;
}

/** `expect.poll` throws a plain error when its time is over, with a frame of this name. */
const FAILED_ASSERTION = /AssertionError|__VITEST_POLL_CHAIN__/;

/** Why the test does not detect the mutant, or undefined if it does. */
async function faultOf(mutant) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mutant-'));
  const report = join(folder, 'report.json');
  // Hostile tests have only the long form.
  const mode = mutant.file.startsWith('hostile/') ? ['--mode', 'long'] : [];
  const options = [...mode, '--reporter=json', `--outputFile=${report}`, '-t', mutant.test];
  const file = `apps/all/test/${mutant.file}`;
  try {
    const mismatch = mismatchOf(mutant);
    if (mismatch !== undefined) return mismatch;
    const run = spawn('vitest', ['run', file, ...options], {
      cwd: root,
      env: { ...process.env, ...mutantVariable(mutant) },
      stdio: 'ignore',
      timeout: deadlineMs,
      shell: process.platform === 'win32',
    });
    await once(run, 'exit');
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.filter(({ status }) => status === 'failed');
    if (failed.some(({ failureMessages }) => failureMessages.some((text) => FAILED_ASSERTION.test(text))))
      return undefined;
    if (failed.length > 0)
      return `${file}: "${mutant.test}" breaks before its assertions: ${failed[0].failureMessages}`;
    const passed = tests.some(({ status }) => status === 'passed');
    return `${file}: "${mutant.test}" ${passed ? 'passes all the same' : 'was not run'}`;
  } catch (error) {
    return `${file} did not run to its end: ${error.message}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const print = (line) => process.stdout.write(`${line}\n`);
const isCheck = process.argv.includes('--check');
const names = process.argv.slice(2).filter((name) => name !== '--check');
const chosen = MUTANTS.filter(({ name }) => names.length === 0 || names.includes(name));
let failed = 0;

/** Runs the mutants of a list one after the other. */
async function judge(waiting) {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    let fault = isCheck ? mismatchOf(mutant) : await faultOf(mutant);
    // A pause of the machine may have hidden the fault.
    for (let more = isCheck ? 0 : TRIES - 1; more > 0 && fault !== undefined; more -= 1)
      fault = await faultOf(mutant);
    if (fault !== undefined) failed += 1;
    print(fault === undefined ? `ok    ${mutant.name}` : `FAIL  ${mutant.name}: ${fault}`);
  }
}

const [measured, others] = [true, false].map((is) =>
  chosen.filter(({ isMeasured = false }) => isMeasured === is),
);
await judge(measured);
await Promise.all(Array.from({ length: AT_ONCE }, () => judge(others)));
print(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && chosen.length > 0 ? 0 : 1;
