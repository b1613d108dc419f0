// Counts and formats the results of a step. Runs before `npm ci`, so it needs nothing but Node 20.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Maximum number of lines per failure. */
export const MOST_LINES = 30;
const MOST_FAILURES = 10;
const MOST_COLUMNS = 300;
const MOST_DIFF_LINES = 14;
const MOST_MESSAGE_LINES = 10;

/** At most this number of lines: the first and the last, with the number of omitted lines between them. */
export function bounded(text, most = MOST_LINES) {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => (line.length > MOST_COLUMNS ? `${line.slice(0, MOST_COLUMNS)}…` : line));
  if (lines.length <= most) return lines.join('\n');
  const first = Math.floor((most - 1) / 2);
  const last = most - 1 - first;
  const between = `… ${lines.length - first - last} more lines …`;
  return [...lines.slice(0, first), between, ...lines.slice(-last)].join('\n');
}

/** As many failures as fit, each truncated, and the number of the others. */
function boundedList(failures) {
  const shown = failures.slice(0, MOST_FAILURES).map((failure) => bounded(failure));
  const more = failures.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more failures`] : [])].join('\n');
}

/** The report of `tools/test-report.mjs`, or undefined if the run ended before it was written. */
export function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { files: [], unhandled: [] };
  }
}

function reasonText({ message, diff, frames }) {
  const parts = [bounded(message, MOST_MESSAGE_LINES), diff && bounded(diff, MOST_DIFF_LINES), ...frames];
  return parts
    .filter(Boolean)
    .join('\n')
    .replaceAll(/^(?=.)/gm, '  ');
}

/**
 * How many tests failed in which files, so that a short excerpt of the output shows how wide a failure is.
 */
function summaryOf(files) {
  const failed = files.filter(({ failures }) => failures.length > 0);
  const count = failed.reduce((sum, { failures }) => sum + failures.length, 0);
  const named = failed.map(({ file, failures }) => `${basename(file)} ${failures.length}`);
  return failed.length > 1 ? `FAILED ${count} tests: ${named.join(', ')}` : '';
}

/** What a hook added last, such as the faults in the logs of a cluster, and then the failure itself. */
function shownReasons(reasons) {
  return reasons.length > 1 ? [reasons.at(-1), reasons[0]] : reasons;
}

/** The failures of a run: test, reason and line of each. Empty if no test failed. */
export function testFailures({ files, unhandled }) {
  const ofTests = files.flatMap(({ file, failures }) =>
    failures.map(({ name, reasons }) =>
      [`FAILED ${file} > ${name}`, ...shownReasons(reasons).map(reasonText)].join('\n'),
    ),
  );
  const others = unhandled.map((reason) => `FAILED outside of tests\n${reasonText(reason)}`);
  return [bounded(summaryOf(files)), boundedList([...ofTests, ...others])].filter(Boolean).join('\n');
}

/** The failures in the output of a command that marks each with a line `FAIL …`, or the end of its output. */
export function outputFailures(log) {
  const blocks = log.split(/^(?=FAIL\b|ok {2}|\d+ passed, \d+ failed$)/m);
  const failures = blocks.filter((block) => block.startsWith('FAIL'));
  return failures.length > 0
    ? boundedList(failures)
    : log.trimEnd().split('\n').slice(-MOST_LINES).join('\n');
}

/**
 * The result of a suite and of the retries of its failed files. Each file counts with its last result, and a
 * test that failed only in an earlier run is flaky. So is an error outside of tests.
 */
export function resultOf(reports) {
  const last = new Map(reports.flatMap(({ files }) => files).map((result) => [result.file, result]));
  const namesOf = ({ files, unhandled }) => [
    ...files.flatMap(({ file, failures }) => failures.map(({ name }) => `${file} > ${name}`)),
    ...unhandled.map(({ message }) => `outside of tests > ${message.split('\n')[0]}`),
  ];
  const failures = namesOf({ files: [...last.values()], unhandled: reports.at(-1).unhandled });
  const ever = new Set(reports.flatMap(namesOf));
  return {
    passed: [...last.values()].reduce((sum, file) => sum + file.passed, 0),
    failed: failures.length,
    failures,
    unsteady: [...ever].filter((name) => !failures.includes(name)),
  };
}

/** The reason of each failure in a line, by the names of `resultOf`. */
export function reasonLines(reports) {
  const failed = reports.flatMap(({ files }) =>
    files.flatMap(({ file, failures }) =>
      failures.map(({ name, reasons }) => [`${file} > ${name}`, shownReasons(reasons)]),
    ),
  );
  return new Map(
    failed.map(([name, reasons]) => {
      const lines = reasons.flatMap(({ message, diff }) => [
        message.split('\n')[0],
        ...diff.split('\n').filter((line) => /^[-+] (?!Expected|Received)/.test(line)),
      ]);
      return [name, lines.join(' ').slice(0, MOST_COLUMNS)];
    }),
  );
}

/** The slowest files, slowest first. */
export function slowestFiles({ files }, most = 10) {
  return files
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, most)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
}

/** The last `N passed, N failed` of an output. */
export function countsOf(log) {
  const [, passed = '0', failed = '0'] = [...log.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1) ?? [];
  return { passed: Number(passed), failed: Number(failed) };
}
