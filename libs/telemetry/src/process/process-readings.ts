import { readFileSync, readdirSync } from 'node:fs';
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { runtime } from '../instruments/runtime.js';

/** How often the delay of a busy event loop is sampled: each sample wakes the process. */
const RESOLUTION_MS = 100;
/** How often to look whether it is busy. */
const LOOK_MS = 5_000;
/** The utilization from which it is busy. */
const BUSY = 0.05;

const NANOS = 1_000_000_000;

/** Reports the state of the process at every collection. Returns a function that ends that. */
export function readProcess(service: string, version: string): () => void {
  runtime.build.set(1, service, version, process.versions.node);
  const ends = [
    runtime.uptime.observe(() => [[process.uptime()]]),
    readLoopDelay(),
    runtime.loopUtilization.observe(utilization()),
    runtime.memory.observe(() => [[process.memoryUsage.rss()]]),
    runtime.memoryOfNode.observe(memoryOfNode),
    runtime.heapLimit.observe(() => [[getHeapStatistics().heap_size_limit]]),
    runtime.cpu.observe(() => {
      const { user, system } = process.cpuUsage();
      return [
        [user / 1_000_000, 'user'],
        [system / 1_000_000, 'system'],
      ];
    }),
    runtime.descriptors.observe(() => openDescriptors()),
    runtime.descriptorLimit.observe(() => descriptorLimit()),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** Reports the delay of the event loop since the last collection. Returns a function that ends that. */
function readLoopDelay(): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const utilizationNow = utilization();
  let lookAtMs = performance.now() + LOOK_MS;
  let latestSeconds = 0;
  // An idle process is not woken for samples. What blocks it at that moment delays this timer.
  const look = setInterval(() => {
    const nowMs = performance.now();
    latestSeconds = Math.max(latestSeconds, (nowMs - lookAtMs) / 1_000);
    lookAtMs = nowMs + LOOK_MS;
    if (utilizationNow()[0][0] >= BUSY) delay.enable();
    else delay.disable();
  }, LOOK_MS).unref();
  // The histogram holds the time between two samples.
  const at = (percent: number): number =>
    Math.max(0, delay.percentile(percent) / NANOS - RESOLUTION_MS / 1_000);
  let kept: Readonly<Record<50 | 99 | 100, number>> | undefined;
  const read = (percent: 50 | 99 | 100) => (): [[number]] => {
    if (!kept) {
      kept = { 50: at(50), 99: at(99), 100: Math.max(at(100), latestSeconds) };
      delay.reset();
      latestSeconds = 0;
      // A collection reads all of its metrics in one turn.
      queueMicrotask(() => (kept = undefined));
    }
    return [[kept[percent]]];
  };
  const ends = [
    runtime.loopDelayP50.observe(read(50)),
    runtime.loopDelayP99.observe(read(99)),
    runtime.loopDelayMax.observe(read(100)),
  ];
  return () => {
    clearInterval(look);
    delay.disable();
    for (const end of ends) end();
  };
}

function utilization(): () => [[number]] {
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const all = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(all, before);
    before = all;
    return [[since.utilization]];
  };
}

function memoryOfNode(): [number, string][] {
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  return [
    [heapUsed, 'heap_used'],
    [heapTotal, 'heap_total'],
    [external, 'external'],
    [arrayBuffers, 'array_buffers'],
  ];
}

/** Empty if the system does not provide it. */
function openDescriptors(): [number][] {
  try {
    return [[readdirSync('/proc/self/fd').length]];
  } catch {
    return [];
  }
}

function descriptorLimit(): [number][] {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? [] : [[Number(limit)]];
  } catch {
    return [];
  }
}
