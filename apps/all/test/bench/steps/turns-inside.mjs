// Preloaded into the measured process: writes the turns of its event loop and its garbage collections to the
// file in the query of this module's URL when the process exits.
import { writeFileSync } from 'node:fs';
import { PerformanceObserver, constants, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const path = new URL(import.meta.url).searchParams.get('file');
const KINDS = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak callbacks',
};

/** Start of `performance.now()` on the monotonic clock, in microseconds. */
const originMicros = Number(process.hrtime.bigint() / 1_000n) - performance.now() * 1_000;
const turns = [];
const collections = [];
let before = { atMs: 0, idleMs: 0, cpuMicros: 0, events: 0 };

/**
 * Called once a turn. An immediate without a reference does not keep the loop from waiting, and the time that
 * it waited is no part of the turn.
 */
function endTurn() {
  const { user, system } = process.threadCpuUsage();
  const now = {
    atMs: performance.now(),
    idleMs: performance.eventLoopUtilization().idle,
    cpuMicros: user + system,
    events: performance.nodeTiming.uvMetricsInfo.events,
  };
  const tookMicros = (now.atMs - before.atMs - (now.idleMs - before.idleMs)) * 1_000;
  turns.push({
    toMicros: originMicros + now.atMs * 1_000,
    tookMicros,
    cpuMicros: now.cpuMicros - before.cpuMicros,
    events: now.events - before.events,
  });
  before = now;
  setImmediate(endTurn).unref();
}

if (isMainThread) {
  new PerformanceObserver((list) => {
    for (const { startTime, duration, detail } of list.getEntries()) {
      const fromMicros = originMicros + startTime * 1_000;
      collections.push({ kind: KINDS[detail.kind], fromMicros, tookMicros: duration * 1_000 });
    }
  }).observe({ entryTypes: ['gc'] });
  setImmediate(endTurn).unref();
  process.once('exit', () => writeFileSync(path, JSON.stringify({ turns, collections })));
}
