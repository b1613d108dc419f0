import { BATCH, SECONDS } from '../metrics/boundaries.js';
import { Counter, Gauge, Histogram } from '../metrics/metrics.js';

/** The event log and the job queues. */
export const events = {
  stored: new Histogram(
    {
      name: 'messaging.client.operation.duration',
      unit: 's',
      help: 'Time to store a batch of events in the event log.',
      labels: ['messaging.system', 'error.type'],
      constants: { 'messaging.operation.name': 'send', 'messaging.operation.type': 'send' },
    },
    SECONDS.http,
  ),
  batchSize: new Histogram(
    {
      name: 'svc.events.batch.size',
      unit: '{event}',
      help: 'Events per stored batch.',
      labels: ['messaging.system'],
    },
    BATCH,
  ),
  pending: new Gauge({
    name: 'svc.events.pending',
    unit: '{event}',
    help: 'Events that wait to be stored.',
    labels: ['messaging.system'],
  }),
  failing: new Gauge({
    name: 'svc.events.failing',
    unit: '1',
    help: '1 if the last write to the event log failed, otherwise 0.',
    labels: ['messaging.system'],
  }),
  processed: new Histogram(
    {
      name: 'messaging.process.duration',
      unit: 's',
      help: 'Time that a consumer takes to handle a batch of events.',
      labels: ['messaging.system', 'messaging.destination.name', 'messaging.consumer.group.name'],
      constants: { 'messaging.operation.name': 'process' },
    },
    SECONDS.http,
  ),
  handled: new Counter({
    name: 'svc.events.handled',
    unit: '{event}',
    help: 'Events that a consumer has handled.',
    labels: ['messaging.destination.name', 'messaging.consumer.group.name'],
  }),
  dead: new Counter({
    name: 'svc.events.dead',
    unit: '{event}',
    help: 'Unreadable events that were moved to the dead-letter topic.',
    labels: ['messaging.destination.name', 'messaging.consumer.group.name'],
  }),
  failures: new Gauge({
    name: 'svc.events.failures',
    unit: '{failure}',
    help: 'Consecutive failures of a consumer since its last successful batch.',
    labels: ['messaging.destination.name', 'messaging.consumer.group.name'],
  }),
  lag: new Gauge({
    name: 'svc.events.lag',
    unit: '{event}',
    help: 'Events that a group has not handled yet.',
    labels: ['messaging.destination.name', 'messaging.consumer.group.name'],
  }),
  oldest: new Gauge({
    name: 'svc.events.oldest_unhandled.age',
    unit: 's',
    help: 'The age of the oldest event that a group has not handled: exact for events that this process has read, accurate to 10 s for others.',
    labels: ['messaging.destination.name', 'messaging.consumer.group.name'],
  }),
  jobDuration: new Histogram(
    {
      name: 'svc.jobs.duration',
      unit: 's',
      help: 'Time that an attempt of a job takes.',
      labels: ['svc.job', 'svc.job.outcome'],
    },
    SECONDS.http,
  ),
  jobsFailed: new Counter({
    name: 'svc.jobs.failed',
    unit: '{job}',
    help: 'Jobs that failed permanently.',
    labels: ['svc.job'],
  }),
  jobs: new Gauge({
    name: 'svc.jobs.count',
    unit: '{job}',
    help: 'Jobs in a queue by state.',
    labels: ['svc.queue', 'svc.job.state'],
  }),
};
