// `npm run test:weakened -- [names]`: runs hostile tests against a service that was made worse on purpose, in one
// place at a time, and fails where the test does not. Ends with `N passed, N failed`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { weakenedBy } from './weakening.ts';
import { WEAKENINGS } from './weakenings.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const deadlineMs = 10 * 60_000;
const TRIES = 4;
/** Half of a test's time is waited. */
const AT_ONCE = 2;

/** What a test says of the weakened service: why it did not see the weakening, or nothing. */
async function faultOf(weakening) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-weakened-'));
  const report = join(folder, 'report.json');
  // Hostile tests have only the long form.
  const mode = weakening.file.startsWith('hostile/') ? ['--mode', 'long'] : [];
  const options = [...mode, '--reporter=json', `--outputFile=${report}`, '-t', weakening.test];
  const file = `apps/all/test/${weakening.file}`;
  try {
    const found = readFileSync(join(root, weakening.module), 'utf8').split(weakening.find).length - 1;
    if (found !== 1) return `${weakening.module} has the text ${found} times`;
    const run = spawn('vitest', ['run', file, ...options], {
      cwd: root,
      env: { ...process.env, ...weakenedBy(weakening) },
      stdio: 'ignore',
      timeout: deadlineMs,
      shell: process.platform === 'win32',
    });
    await once(run, 'exit');
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.filter(({ status }) => status === 'failed');
    if (failed.some(({ failureMessages }) => failureMessages.some((text) => text.includes('AssertionError'))))
      return undefined;
    if (failed.length > 0)
      return `${file}: "${weakening.test}" breaks before it can tell: ${failed[0].failureMessages}`;
    const passed = tests.some(({ status }) => status === 'passed');
    return `${file}: "${weakening.test}" ${passed ? 'passes all the same' : 'was not run'}`;
  } catch (error) {
    return `${file} did not run to its end: ${error.message}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const tell = (line) => process.stdout.write(`${line}\n`);
const names = process.argv.slice(2);
const chosen = WEAKENINGS.filter(({ name }) => names.length === 0 || names.includes(name));
let failed = 0;

/** Takes one weakening after the other of a list. */
async function judge(waiting) {
  for (let weakening = waiting.shift(); weakening; weakening = waiting.shift()) {
    let fault = await faultOf(weakening);
    // A machine that stood still for a moment may have hidden it.
    for (let more = TRIES - 1; more > 0 && fault !== undefined; more -= 1) fault = await faultOf(weakening);
    if (fault !== undefined) failed += 1;
    tell(fault === undefined ? `ok    ${weakening.name}` : `FAIL  ${weakening.name}: ${fault}`);
  }
}

const [measured, others] = [true, false].map((is) =>
  chosen.filter(({ isMeasured = false }) => isMeasured === is),
);
await judge(measured);
await Promise.all(Array.from({ length: AT_ONCE }, () => judge(others)));
tell(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && chosen.length > 0 ? 0 : 1;
