import { Counter, Gauge } from '../metrics/metrics.js';

/** The state of the process itself. */
export const runtime = {
  build: new Gauge({
    name: 'svc.build.info',
    unit: '',
    help: 'Always 1; the labels identify the version that runs.',
    labels: ['service.name', 'service.version', 'process.runtime.version'],
  }),
  ready: new Gauge({
    name: 'svc.ready',
    unit: '1',
    help: '1 if the process can serve, as `/readyz` says; 0 while it starts, drains or lacks a dependency.',
    labels: [],
  }),
  uptime: new Gauge({
    name: 'process.uptime',
    unit: 's',
    help: 'The time for which the process has been running.',
    labels: [],
  }),
  loopDelayP50: new Gauge({
    name: 'nodejs.eventloop.delay.p50',
    unit: 's',
    help: 'Event loop delay since the last reading, median.',
    labels: [],
  }),
  loopDelayP99: new Gauge({
    name: 'nodejs.eventloop.delay.p99',
    unit: 's',
    help: 'Event loop delay since the last reading, 99th percentile.',
    labels: [],
  }),
  loopDelayMax: new Gauge({
    name: 'nodejs.eventloop.delay.max',
    unit: 's',
    help: 'Event loop delay since the last reading, maximum.',
    labels: [],
  }),
  loopUtilization: new Gauge({
    name: 'nodejs.eventloop.utilization',
    unit: '1',
    help: 'The fraction of time in which the event loop was busy, since the last reading.',
    labels: [],
  }),
  memory: new Gauge({
    name: 'process.memory.usage',
    unit: 'By',
    help: 'Physical memory in use.',
    labels: [],
    addsUp: true,
  }),
  memoryOfNode: new Gauge({
    name: 'svc.process.memory',
    unit: 'By',
    help: 'Memory that Node uses, by kind: heap_used, heap_total, external, array_buffers.',
    labels: ['svc.memory.kind'],
  }),
  heapLimit: new Gauge({
    name: 'svc.process.heap.limit',
    unit: 'By',
    help: 'The maximum size of the heap, at which the process dies.',
    labels: [],
  }),
  cpu: new Counter({
    name: 'process.cpu.time',
    unit: 's',
    help: 'CPU time of the process.',
    labels: ['cpu.mode'],
  }),
  descriptors: new Gauge({
    name: 'process.unix.file_descriptor.count',
    unit: '{file_descriptor}',
    help: 'Open files and sockets.',
    labels: [],
    addsUp: true,
  }),
  diskAvailable: new Gauge({
    name: 'svc.disk.available',
    unit: 'By',
    help: 'Bytes that this process can still write to the disk of a folder.',
    labels: ['svc.disk'],
  }),
  diskSize: new Gauge({
    name: 'svc.disk.size',
    unit: 'By',
    help: 'The size of the disk of a folder.',
    labels: ['svc.disk'],
  }),
  descriptorLimit: new Gauge({
    name: 'svc.process.file_descriptor.limit',
    unit: '{file_descriptor}',
    help: 'The maximum number of open files and sockets.',
    labels: [],
  }),
};
