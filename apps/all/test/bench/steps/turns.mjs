// The turns of the event loop of this service, and what the long ones did.
import { readFileSync } from 'node:fs';
import { stepShares } from './profile.mjs';
import { fixed, table } from '../report.mjs';

const INSIDE = new URL('./turns-inside.mjs', import.meta.url);

const LONG_MS = 20;
/** The longest turns, the largest steps of each, and of all long ones together. */
const SHOWN = { turns: 8, steps: 4, allSteps: 10 };

/** Options of Node with which a process writes its turns to the file when it exits. */
export const turnArgs = (path) => ['--import', `${INSIDE.href}?file=${path}`];

/**
 * The turns between two times in microseconds: how long they took, with and without the time for which other
 * processes had the core, and the steps of the longest ones by CPU time.
 */
export function turnsOf(path, profile, { fromMicros, toMicros }) {
  const { turns, collections } = JSON.parse(readFileSync(path, 'utf8'));
  const within = turns
    .filter((turn) => turn.toMicros - turn.tookMicros >= fromMicros && turn.toMicros <= toMicros)
    .toSorted((a, b) => b.cpuMicros - a.cpuMicros);
  return {
    count: within.length,
    took: figuresOf(within.map(({ tookMicros }) => tookMicros / 1_000)),
    cpu: figuresOf(within.map(({ cpuMicros }) => cpuMicros / 1_000)),
    longest: within
      .filter(({ cpuMicros }, at) => at < SHOWN.turns || cpuMicros > LONG_MS * 1_000)
      .map((turn) => described(turn, profile, collections)),
  };
}

function figuresOf(ms) {
  const longestFirst = ms.toSorted((a, b) => b - a);
  const share = (part) => longestFirst[Math.floor(longestFirst.length * (1 - part))];
  const long = longestFirst.filter((each) => each > LONG_MS).length;
  return { p50Ms: share(0.5), p99Ms: share(0.99), longestMs: longestFirst[0], long };
}

function described({ toMicros, tookMicros, cpuMicros, events }, profile, collections) {
  const fromMicros = toMicros - tookMicros;
  const inside = collections.filter((gc) => gc.fromMicros >= fromMicros && gc.fromMicros < toMicros);
  return {
    tookMs: tookMicros / 1_000,
    cpuMs: cpuMicros / 1_000,
    events,
    collections: inside.map(({ kind, tookMicros: micros }) => ({ kind, tookMs: micros / 1_000 })),
    steps: stepShares(profile, { fromMicros, toMicros }),
  };
}

export function turnsText({ count, took, cpu, longest }) {
  const figures = Object.entries({ 'by the clock': took, 'CPU time': cpu }).map(
    ([name, { p50Ms, p99Ms, longestMs, long }]) => [
      name,
      ...[p50Ms, p99Ms, longestMs].map((ms) => fixed(ms, 1)),
      String(long),
    ],
  );
  const rows = longest
    .slice(0, SHOWN.turns)
    .map(({ tookMs, cpuMs, events, collections, steps }) => [
      '',
      fixed(cpuMs, 1),
      fixed(tookMs, 1),
      String(events),
      collections.map(({ kind, tookMs: ms }) => `${kind} ${fixed(ms, 1)}`).join(', ') || '-',
      stepsText(steps, SHOWN.steps),
    ]);
  const long = longest.filter(({ cpuMs }) => cpuMs > LONG_MS);
  return [
    `Turns of the event loop under the load of requests: ${count}`,
    ...table(['', 'p50 ms', 'p99 ms', 'longest ms', `over ${LONG_MS} ms`], figures),
    '  The longest by CPU time',
    ...table(['', 'CPU ms', 'ms', 'events', 'garbage collections, ms', 'steps'], rows),
    ...(long.length > 0
      ? [`  those over ${LONG_MS} ms of CPU: ${stepsText(sharesOfAll(long), SHOWN.allSteps)}`]
      : []),
    '',
  ].join('\n');
}

/** The shares of several turns together. */
function sharesOfAll(turns) {
  const sums = new Map();
  const all = turns.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  for (const { cpuMs, steps } of turns)
    for (const { step, share } of steps) sums.set(step, (sums.get(step) ?? 0) + (share * cpuMs) / all);
  return Array.from(sums, ([step, share]) => ({ step, share })).toSorted((a, b) => b.share - a.share);
}

function stepsText(steps, most) {
  return steps
    .slice(0, most)
    .map(({ step, share }) => `${step} ${Math.round(share * 100)} %`)
    .join(', ');
}
