import { Counter, Gauge, Histogram } from '../cells/metrics.js';

/** Boundaries in seconds. */
const MINUTES = [5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 43_200];

/** The same, of calls of a storage server. */
const CALL_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

const KINDS = ['video', 'music'];

/** Jobs that make videos and music. */
export const mediaJobs = {
  unfinished: new Gauge({
    name: 'svc.media_jobs.unfinished',
    unit: '{job}',
    help: 'Jobs that have not ended, by kind and state; all processes report the same. refunding: failed, and the cost is not returned yet.',
    labels: ['svc.media_jobs.kind', 'svc.media_jobs.state'],
  }),
  oldest: new Gauge({
    name: 'svc.media_jobs.oldest_unfinished.age',
    unit: 's',
    help: 'The age of the oldest job that has not ended; all processes report the same.',
    labels: ['svc.media_jobs.kind'],
  }),
  ended: new Counter(
    {
      name: 'svc.media_jobs.ended',
      unit: '{job}',
      help: 'Jobs that have ended, by outcome.',
      labels: ['svc.media_jobs.kind', 'svc.media_jobs.state'],
    },
    KINDS.flatMap((kind) => [
      [kind, 'completed'],
      [kind, 'failed'],
    ]),
  ),
  refunds: new Counter(
    {
      name: 'svc.media_jobs.refunds',
      unit: '{job}',
      help: 'Failed jobs whose cost was returned.',
      labels: ['svc.media_jobs.kind'],
    },
    KINDS.map((kind) => [kind]),
  ),
  duration: new Histogram(
    {
      name: 'svc.media_jobs.duration',
      unit: 's',
      help: 'The time from the request to the stored result of completed jobs.',
      labels: ['svc.media_jobs.kind'],
    },
    MINUTES,
  ),
  storage: new Histogram(
    {
      name: 'svc.media_jobs.storage.duration',
      unit: 's',
      help: 'The time until the S3-compatible server responds, by the purpose of a call and what went wrong.',
      labels: ['svc.media_jobs.storage.operation', 'error.type'],
    },
    CALL_SECONDS,
  ),
};
