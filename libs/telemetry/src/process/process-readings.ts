import { readFileSync, readdirSync } from 'node:fs';
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { runtime } from '../instruments/runtime.js';

/** How often the delay of the event loop is sampled. */
const RESOLUTION_MS = 20;

const NANOS = 1_000_000_000;
const QUANTILES = [50, 99, 100] as const;

/** Reports the state of the process at every collection. Returns a function that ends that. */
export function readProcess(service: string, version: string): () => void {
  runtime.build.set(1, service, version, process.versions.node);
  runtime.startTime.set((Date.now() - performance.now()) / 1_000);
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const ends = [
    runtime.loopDelay.observe(() => {
      const readings = QUANTILES.map((percent) => lateness(delay.percentile(percent), percent));
      delay.reset();
      return readings;
    }),
    runtime.loopUtilization.observe(utilization()),
    runtime.memory.observe(memory),
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
    delay.disable();
    for (const end of ends) end();
  };
}

/** The histogram holds the time between two samples. */
const lateness = (nanos: number, percent: number): [number, string] => [
  Math.max(0, nanos / NANOS - RESOLUTION_MS / 1_000),
  String(percent / 100),
];

function utilization(): () => [[number]] {
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const all = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(all, before);
    before = all;
    return [[since.utilization]];
  };
}

function memory(): [number, string][] {
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  return [
    [rss, 'rss'],
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
