import { Counter, Gauge, Histogram } from '../metrics/metrics.js';

/** Boundaries in seconds. */
const MINUTES = [5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 43_200];

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
  overdue: new Gauge({
    name: 'svc.media_jobs.overdue',
    unit: 's',
    help: 'How long the latest unfinished job is past its deadline; all processes report the same.',
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
      [kind, 'ended_by_operator'],
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
  storageFailures: new Counter(
    {
      name: 'svc.media_jobs.storage.failures',
      unit: '{call}',
      help: 'Calls that the S3-compatible server of videos and music rejected or did not respond, by their purpose.',
      labels: ['svc.media_jobs.storage.operation'],
    },
    [['read'], ['write'], ['delete']],
  ),
};
