import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Steps } from './run-steps.mjs';
import { resultOf } from './step-results.mjs';

/** A busy machine starts programs slowly. */
const WAIT = { timeout: 30_000 };
const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
const nightly = fileURLToPath(new URL('nightly.mjs', import.meta.url));

/** A test that fails the given number of times, counted in a file, and then passes. */
const failing = (name, times) => `
it('${name}', () => {
  const file = new URL('${name}.count', import.meta.url);
  const runs = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  writeFileSync(file, String(runs + 1));
  if (runs < ${times}) expect({ runs, lines: Array.from({ length: 60 }, (_, at) => at) }).toEqual({ runs: 'enough' });
});`;
const header = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';`;

/** A workspace with its own npm scripts and tests. */
class Workspace {
  dir = mkdtempSync(join(tmpdir(), 'svc-steps-spec-'));
  output = '';

  constructor(scripts, files = {}) {
    symlinkSync(modules, join(this.dir, 'node_modules'));
    this.write('package.json', JSON.stringify({ name: 'steps', private: true, type: 'module', scripts }));
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path, text) {
    writeFileSync(join(this.dir, path), text);
  }

  read(path) {
    return readFileSync(join(this.dir, path), 'utf8');
  }

  steps(seconds = 300) {
    const print = (text) => (this.output += `${text}\n`);
    return new Steps({ seconds, graceSeconds: 1, cwd: this.dir, print });
  }

  remove() {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a test step', () => {
  let workspace;
  let passed;
  let result;

  beforeAll(async () => {
    const tests = { 'once.spec.js': 1, 'always.spec.js': 9 };
    workspace = new Workspace(
      { test: 'vitest run' },
      Object.fromEntries(
        Object.entries(tests).map(([file, times]) => [
          file,
          `${header}${failing(file.split('.')[0], times)}\nit('passes beside it', () => {});\n`,
        ]),
      ),
    );
    const steps = workspace.steps();
    result = await steps.tests({ name: 'tests', seconds: 120, script: 'test' });
    passed = steps.finish();
  });
  afterAll(() => workspace.remove());

  it('names the file and the test that failed and then passed', () => {
    expect(result.unsteady).toEqual(['once.spec.js > once']);
    expect(workspace.output).toContain('UNSTEADY, failed and then passed: once.spec.js > once\n');
  });

  it('counts each test once, as in its last run, and fails for the test that never passed', () => {
    expect(passed).toBe(false);
    expect(workspace.output).toContain('FAILED: always.spec.js > always\n');
    expect(workspace.output.trimEnd().split('\n').at(-1)).toBe('3 passed, 1 failed');
  });

  it('repeats at its end why each test failed, in a line', () => {
    const [, end] = workspace.output.split('UNSTEADY');
    expect(end).toMatch(/^, failed and then passed: once\.spec\.js > once\n {2}AssertionError: .{1,300}\n/);
    expect(end).toMatch(/\nFAILED: always\.spec\.js > always\n {2}AssertionError: .{1,300}\n/);
  });

  it('prints test, reason and line of a failure in at most 30 lines, whatever was compared', () => {
    const [, failure] = workspace.output
      .split(/^(?=FAILED always|==)/m)
      .filter((part) => part.startsWith('FAILED always'));
    const lines = failure.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(30);
    expect(lines[0]).toBe('FAILED always.spec.js > always');
    expect(failure).toContain('AssertionError: expected');
    expect(failure).toMatch(/^ {2}\+ .*"runs": 1,$/m);
    expect(failure).toMatch(/… \d+ more lines …/);
    expect(lines.at(-1)).toBe('  at always.spec.js:7:84');
  });

  it('ends with the slowest files and the duration of each step', () => {
    expect(workspace.output).toMatch(/-- the slowest files\n +\d+\.\d s {2}(always|once)\.spec\.js\n/);
    expect(workspace.output).toMatch(/^tests: \d+ s\ntests, run 2 of what failed: \d+ s\n/m);
  });
});

describe('an error outside of tests', () => {
  const file = { file: 'a.spec.js', seconds: 1, passed: 1, failures: [] };
  const failed = { files: [file], unhandled: [{ message: 'Error: late\nat a', diff: '', frames: [] }] };

  it('fails the step if it occurs in the last run', () => {
    const failures = ['outside of tests > Error: late'];
    expect(resultOf([failed])).toEqual({ passed: 1, failed: 1, failures, unsteady: [] });
  });

  it('counts as flaky if it occurs only in an earlier run', () => {
    const unsteady = ['outside of tests > Error: late'];
    const passed = { files: [file], unhandled: [] };
    expect(resultOf([failed, passed])).toEqual({ passed: 1, failed: 0, failures: [], unsteady });
  });
});

describe('a run', () => {
  it('fails for a file whose process ends under way, each time', async () => {
    const workspace = new Workspace(
      { test: 'vitest run' },
      {
        'abort.spec.js': `${header}\nit('passes first', () => {});\nit('aborts', () => process.abort());\n`,
        'other.spec.js': `${header}\nit('passes', () => {});\n`,
      },
    );
    const { failed, failures } = await workspace
      .steps()
      .tests({ name: 'tests', seconds: 120, script: 'test' });
    expect(failed).toBeGreaterThan(0);
    expect(failures).toContain('abort.spec.js > the end of its process');
    workspace.remove();
  });

  it('fails if four tests are flaky, even though all passed when retried', async () => {
    const four = ['a', 'b', 'c', 'd'].map((name) => failing(name, 1)).join('');
    const workspace = new Workspace({ test: 'vitest run' }, { 'four.spec.js': header + four });
    const steps = workspace.steps();
    const { passed, failed } = await steps.tests({ name: 'tests', seconds: 120, script: 'test' });
    expect([passed, failed, steps.finish()]).toEqual([4, 0, false]);
    expect(workspace.output).toContain(
      'FAILED: 4 unsteady tests, at most 3 are allowed\n4 passed, 1 failed\n',
    );
    workspace.remove();
  });

  it('stops a hanging step and its child processes at its deadline, and counts it as failed', async () => {
    const hang = `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
process.on('SIGTERM', () => {});
const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e3)']);
writeFileSync('pids', [process.pid, child.pid].join(' '));
console.log('is waiting');
setInterval(() => {}, 1_000);`;
    const workspace = new Workspace({}, { 'hang.mjs': hang });
    const steps = workspace.steps();
    await steps.program({ name: 'hang', seconds: 10, command: [process.execPath, 'hang.mjs'] });
    expect(steps.finish()).toBe(false);
    const pids = workspace.read('pids').split(' ').map(Number);
    await expect.poll(() => pids.filter(isAlive), WAIT).toEqual([]);
    expect(workspace.output).toContain('hang was stopped at its deadline of 10 s\nis waiting\n');
    expect(workspace.output).toMatch(/\nFAILED: hang\n0 passed, 1 failed\n$/);
    workspace.remove();
  });

  it('does not begin a step that has no time left, and counts it as failed', async () => {
    const workspace = new Workspace({ quick: 'echo 1 passed, 0 failed' });
    const steps = workspace.steps(0);
    await steps.counted({ name: 'quick', seconds: 60, script: 'quick' });
    expect(steps.finish()).toBe(false);
    expect(workspace.output).toContain('quick: not begun\n');
    workspace.remove();
  });

  it('prints at most 30 lines of each failure and at most ten failures of a step', async () => {
    const many = `for (let at = 0; at < 14; at += 1) console.log(\`FAIL  check \${at}\\n\` + '      a fault\\n'.repeat(99));
console.log('ok    another check\\n0 passed, 14 failed');
process.exitCode = 1;`;
    const workspace = new Workspace({ many: 'node many.mjs' }, { 'many.mjs': many });
    const { failed } = await workspace.steps().counted({ name: 'many', seconds: 60, script: 'many' });
    expect(failed).toBe(14);
    const lines = workspace.output.split('\n');
    expect(lines.filter((line) => line.startsWith('FAIL')).length).toBe(10);
    expect(lines.filter((line) => line === '      a fault').length).toBe(10 * 28);
    expect(workspace.output).toContain('… and 4 more failures\n');
    workspace.remove();
  });
});

describe('npm run nightly', () => {
  it('continues where it was interrupted, until --fresh or another commit starts it over', async () => {
    const log = `import { appendFileSync, existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const [part, ...args] = process.argv.slice(2);
appendFileSync('.svc/started', part + ' ');
if (part === 'mutations') console.log('2 passed, 0 failed');
else if (!existsSync('.svc/quick')) setInterval(() => {}, 1_000);
else process.exitCode = spawnSync('vitest', ['run', ...args], { stdio: 'inherit' }).status;`;
    const workspace = new Workspace(
      { 'test:mutations': 'node part.mjs mutations', 'test:long': 'node part.mjs long' },
      {
        'part.mjs': log,
        '.gitignore': '.svc/\nnode_modules\n',
        'one.spec.js': `${header}it('passes', () => {});\n`,
      },
    );
    mkdirSync(join(workspace.dir, '.svc'));
    const git = (...args) =>
      spawnSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@localhost', ...args], {
        cwd: workspace.dir,
      });
    git('init');
    git('add', '.');
    git('commit', '-m', 'all');
    const run = (...args) => {
      const child = spawn(process.execPath, [nightly, ...args], { cwd: workspace.dir });
      const output = text(child.stdout);
      return { child, ended: once(child, 'exit').then(async ([code]) => ({ code, output: await output })) };
    };
    const started = () => workspace.read('.svc/started');

    const first = run('mutations', 'long');
    await expect
      .poll(() => existsSync(join(workspace.dir, '.svc/started')) && started(), WAIT)
      .toBe('mutations long ');
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);

    workspace.write('.svc/quick', '');
    const second = await run('mutations', 'long').ended;
    expect(started()).toBe('mutations long long ');
    expect(second.output).toContain('== mutations passed before on this commit\n');
    expect(second.output).toMatch(/\n3 passed, 0 failed\n$/);
    expect(second.code).toBe(0);

    expect((await run('--fresh', 'mutations').ended).output).toMatch(/\n2 passed, 0 failed\n$/);
    expect(started()).toBe('mutations long long mutations ');
    git('commit', '--allow-empty', '-m', 'another');
    await run('mutations').ended;
    expect(started()).toBe('mutations long long mutations mutations ');
    workspace.remove();
  });

  it('lists its parts, and refuses an unknown part', () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [nightly, 'lang'], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toBe('Unknown part lang. The parts are:\n');
    expect(stdout).toMatch(/^long +\S.*\ncluster +\S/);
  });
});
