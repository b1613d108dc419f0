import { afterEach } from 'vitest';
import { clusterLogs } from './target.js';

const MOST_LINES = 9;
const LINE_CHARS = 300;

interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly route?: string;
  readonly problem?: string;
  readonly cause?: string;
}

/** Adds to a failed test what the processes of its cluster logged of faults during the test. */
afterEach(async ({ task }) => {
  const { state, startTime } = task.result ?? {};
  if (state !== 'fail' || startTime === undefined) return;
  const since = new Date(startTime).toISOString();
  const faults = (await clusterLogs())
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ time, level, cause }) => time >= since && (level !== 'info' || cause !== undefined))
    .map(({ time, msg, route = '', problem = '', cause = '' }) =>
      [time, msg, route, problem, cause].filter(Boolean).join(' · ').slice(0, LINE_CHARS),
    );
  if (faults.length > 0)
    throw new Error(`the cluster logged:\n${faults.toSorted().slice(0, MOST_LINES).join('\n')}`);
});
