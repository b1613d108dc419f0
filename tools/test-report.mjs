// A vitest reporter: writes the result of each test file, with the reason and the line of each failure, as
// JSON to the file that SVC_TEST_REPORT names. Unlike vitest's own JSON it has the diff between the expected
// and the actual value. Without such a file, it prints the slowest files of a run of many.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { slowestFiles } from './step-results.mjs';

/** A run of fewer files shows their durations anyway. */
const MANY_FILES = 20;

const MOST_FRAMES = 3;

/**
 * The message, the diff and the stack within the workspace. They are kept separate so that a long one does
 * not hide the others.
 */
function reasonsOf(errors, root) {
  return errors.map(({ name = 'Error', message, cause, diff = '', stacks = [] }) => ({
    message: `${name}: ${message}${cause ? ` (${cause.name ?? 'Error'}: ${cause.message})` : ''}`,
    diff,
    frames: stacks
      .filter(({ file }) => file.startsWith(root) && !file.includes('/node_modules/'))
      .slice(0, MOST_FRAMES)
      .map(({ file, line, column }) => `at ${relative(root, file)}:${line}:${column}`),
  }));
}

function resultOf(module, root) {
  const tests = [...module.children.allTests()];
  const { duration, collectDuration } = module.diagnostic();
  const ofHooks = [module, ...module.children.allSuites()].flatMap((suite) => suite.errors());
  const failures = tests
    .filter((test) => test.result().state === 'failed')
    .map((test) => ({ name: test.fullName, reasons: reasonsOf(test.result().errors, root) }));
  const state = module.state();
  // A failed import or hook belongs to no test, and neither does the end of the process that ran them.
  if (ofHooks.length > 0 || (failures.length === 0 && state === 'failed'))
    failures.push({ name: 'imports and hooks', reasons: reasonsOf(ofHooks, root) });
  else if (state !== 'passed' && state !== 'skipped' && state !== 'failed')
    failures.push({ name: 'the end of its process', reasons: [] });
  return {
    file: relative(root, module.moduleId),
    seconds: (duration + collectDuration) / 1_000,
    passed: tests.filter((test) => test.result().state === 'passed').length,
    failures,
  };
}

export default class TestReport {
  onInit({ config }) {
    this.root = config.root;
  }

  onTestRunEnd(modules, errors) {
    const files = modules.map((module) => resultOf(module, this.root));
    const report = { files, unhandled: reasonsOf(errors, this.root) };
    const path = process.env.SVC_TEST_REPORT;
    if (path) writeFileSync(path, JSON.stringify(report));
    else if (files.length >= MANY_FILES)
      console.log(`\nThe slowest files, which run side by side:\n${slowestFiles(report).join('\n')}`);
  }
}
