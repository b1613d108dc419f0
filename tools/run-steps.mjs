// Runs the steps of .ci/run and of `npm run nightly` one after the other, each with a deadline, and adds up
// their results.
// Runs before `npm ci`, so it needs nothing but Node 20.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  countsOf,
  outputFailures,
  reasonLines,
  readReport,
  resultOf,
  slowestFiles,
  testFailures,
} from './step-results.mjs';

const REPORTER = fileURLToPath(new URL('test-report.mjs', import.meta.url));
/** More flaky tests than this fail the run. */
const MOST_UNSTEADY = 3;
/** If more files than this fail, it is no coincidence, and they are not retried. */
const MOST_FILES_AGAIN = 5;
const MOST_RUNS = 3;
const AT_DEADLINE = 124;

const environment = {
  ...process.env,
  CI: 'true',
  NO_COLOR: '1',
  NX_DAEMON: 'false',
  NX_NO_CLOUD: 'true',
  npm_config_update_notifier: 'false',
};
delete environment.FORCE_COLOR;

function signalGroup({ pid }, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Runs a command without stdin in its own process group, with its output in a file, and resolves with its
 * exit code. At the deadline, or when this process is interrupted, it stops the whole group, and kills it if
 * it still runs after a grace period.
 */
function runCommand([program, ...args], { seconds, graceSeconds, log, env, cwd }) {
  const output = openSync(log, 'w');
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', output, output], detached: true });
  closeSync(output);
  return new Promise((resolve) => {
    let code;
    let killer;
    const stop = (exitCode) => {
      code ??= exitCode;
      signalGroup(child, 'SIGTERM');
      killer ??= setTimeout(() => signalGroup(child, 'SIGKILL'), graceSeconds * 1_000);
    };
    const deadline = setTimeout(() => stop(AT_DEADLINE), seconds * 1_000);
    const interrupts = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [
      signal,
      () => stop(128 + constants.signals[signal]),
    ]);
    for (const [signal, listener] of interrupts) process.on(signal, listener);
    const end = (exitCode) => {
      clearTimeout(deadline);
      clearTimeout(killer);
      for (const [signal, listener] of interrupts) process.off(signal, listener);
      // The leader has exited, so the rest of the group gets no more grace.
      if (code !== undefined) signalGroup(child, 'SIGKILL');
      if (code > 128) process.exit(code);
      resolve(code ?? exitCode);
    };
    child.on('error', () => end(127));
    child.on('exit', (exitCode) => end(exitCode ?? 1));
  });
}

/** The steps of one run and their results. */
export class Steps {
  #endsMs;
  #startMs = performance.now();
  #logs = mkdtempSync(join(tmpdir(), 'svc-steps-'));
  #print;
  #graceSeconds;
  #cwd;
  #passed = 0;
  #failed = 0;
  #durations = [];
  #unsteady = [];
  #failures = [];
  /** Of the tests above, so that the end of the output is enough to find a cause. */
  #reasons = new Map();

  /** `seconds` limits all steps together; `graceSeconds` is the time that a stopped step gets to end. */
  constructor({ seconds, graceSeconds = 15, cwd = process.cwd(), print = console.log }) {
    this.#endsMs = performance.now() + seconds * 1_000;
    this.#graceSeconds = graceSeconds;
    this.#cwd = cwd;
    this.#print = print;
    process.on('exit', () => rmSync(this.#logs, { recursive: true, force: true }));
  }

  /**
   * A step that is not a test. It counts only if it fails, or not at all if `otherwise` describes how the
   * run continues.
   */
  async program({ name, seconds, command, otherwise }) {
    const { code, log } = await this.#run({ name, seconds, command });
    if (code === 0) return true;
    this.#print(outputFailures(log));
    if (otherwise === undefined) this.add({ name, passed: 0, failed: 1, failures: [name] });
    else this.#print(`-- ${otherwise}`);
    return false;
  }

  /** An npm script that ends with `N passed, N failed`. */
  async counted({ name, seconds, script, env }) {
    const { code, log } = await this.#run({
      name,
      seconds,
      command: ['npm', 'run', '--silent', script],
      env,
    });
    const { passed, failed } = countsOf(log);
    const isFailed = code !== 0 || failed > 0 || passed === 0;
    this.#print(isFailed ? outputFailures(log) : (log.match(/^ok {2}.*$/gm) ?? []).join('\n'));
    const failures = isFailed ? [name] : [];
    return this.add({ name, passed, failed: isFailed ? Math.max(1, failed) : 0, failures });
  }

  /**
   * An npm script that passes its arguments to vitest. If only a few files fail, they are retried on their
   * own.
   */
  async tests({ name, seconds, script, args = [], env }) {
    const reports = [];
    let files = args;
    let end;
    for (let run = 1; run <= MOST_RUNS; run += 1) {
      const path = join(this.#logs, `${name}-${run}.json`);
      end = await this.#run({
        name: run === 1 ? name : `${name}, run ${run} of what failed`,
        seconds,
        command: ['npm', 'run', script, '--', ...files, '--reporter=default', `--reporter=${REPORTER}`],
        env: { ...env, SVC_TEST_REPORT: path },
      });
      const report = readReport(path);
      reports.push(report);
      if (run === 1) this.#print(['-- the slowest files', ...slowestFiles(report)].join('\n'));
      if (end.code !== 0) this.#print(testFailures(report) || outputFailures(end.log));
      files = report.files.filter(({ failures }) => failures.length > 0).map(({ file }) => file);
      if (end.code !== 1 || files.length === 0 || files.length > MOST_FILES_AGAIN) break;
    }
    const result = resultOf(reports);
    for (const [test, reason] of reasonLines(reports)) this.#reasons.set(test, reason);
    // A run that ends early, or an error outside of tests, is a failure too.
    if (result.failed === 0 && (end.code !== 0 || result.passed === 0)) {
      result.failed = 1;
      result.failures = [name];
    }
    return this.add({ name, ...result });
  }

  /** Adds the result of a step, possibly from an earlier run, and returns it. */
  add(result) {
    const { passed, failed, failures = [], unsteady = [] } = result;
    this.#print(`-- ${passed} passed, ${failed} failed`);
    this.#passed += passed;
    this.#failed += failed;
    this.#failures.push(...failures);
    this.#unsteady.push(...unsteady);
    return result;
  }

  /** Prints the results of all steps, and returns whether they passed. */
  finish() {
    if (this.#unsteady.length > MOST_UNSTEADY) {
      this.#failed += 1;
      this.#failures.push(`${this.#unsteady.length} unsteady tests, at most ${MOST_UNSTEADY} are allowed`);
    }
    const withReason = (name) => {
      const reason = this.#reasons.get(name);
      return reason === undefined ? name : `${name}\n  ${reason}`;
    };
    const lines = [
      ...this.#durations,
      `all: ${Math.round((performance.now() - this.#startMs) / 1_000)} s`,
      ...this.#unsteady.map((name) => `UNSTEADY, failed and then passed: ${withReason(name)}`),
      ...this.#failures.map((name) => `FAILED: ${withReason(name)}`),
      `${this.#passed} passed, ${this.#failed} failed`,
    ];
    this.#print(lines.join('\n'));
    return this.#failed === 0;
  }

  async #run({ name, seconds, command, env }) {
    const startMs = performance.now();
    const leftSeconds = Math.floor((this.#endsMs - startMs) / 1_000);
    if (leftSeconds <= 0) {
      this.#durations.push(`${name}: not begun`);
      return { code: AT_DEADLINE, log: `${name} was not begun: no time is left` };
    }
    const limit = Math.min(seconds, leftSeconds);
    this.#print(`== ${name}, at most ${limit} s: ${command.join(' ')}`);
    const path = join(this.#logs, 'output.log');
    const options = {
      seconds: limit,
      graceSeconds: this.#graceSeconds,
      log: path,
      cwd: this.#cwd,
      env: { ...environment, ...env },
    };
    const code = await runCommand(command, options);
    const took = `${Math.round((performance.now() - startMs) / 1_000)} s`;
    this.#durations.push(`${name}: ${took}`);
    this.#print(`== ${name} took ${took}${code === 0 ? '' : ` and ended with ${code}`}`);
    if (code === AT_DEADLINE) this.#print(`-- ${name} was stopped at its deadline of ${limit} s`);
    return { code, log: readFileSync(path, 'utf8') };
  }
}
