import { afterEach } from 'vitest';
import { sharedLogs } from './target.js';

const MOST_LINES = 5;
const LINE_CHARS = 160;

interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly route?: string;
  readonly status?: number;
  readonly problem?: string;
  readonly cause?: string;
}

const isFault = ({ level, status = 200, cause }: LogLine): boolean =>
  level !== 'info' || status >= 500 || cause !== undefined;

/** Adds to a failed test which faults the processes of its cluster logged during the test, and how often. */
afterEach(async ({ task }) => {
  const { state, startTime } = task.result ?? {};
  if (state !== 'fail' || startTime === undefined) return;
  const since = new Date(startTime).toISOString();
  const faults = (await sharedLogs())
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
    .filter((line) => line.time >= since && isFault(line))
    .map(({ msg, route, problem, cause }) => [msg, route, problem, cause].filter(Boolean).join(' · '));
  const counts = Array.from(
    Map.groupBy(faults, (fault) => fault),
    ([fault, { length }]) => `${length} × ${fault.slice(0, LINE_CHARS)}`,
  );
  if (counts.length > 0) throw new Error(`the cluster logged:\n${counts.slice(0, MOST_LINES).join('\n')}`);
});
