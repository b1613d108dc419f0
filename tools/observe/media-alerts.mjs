// Alerts about jobs that make videos and music, in the format of `alerts.mjs`. Deployments without a media
// worker have none of these metrics.
import { m } from './names.mjs';
import { counter, flat, rising } from './series.mjs';

const KIND = 'svc_media_jobs_kind';
const OPERATION = 'svc_media_jobs_storage_operation';
const ended = (state) => counter(m.mediaJobs.ended, `${KIND}="video",svc_media_jobs_state="${state}"`);
const refunding = counter(m.mediaJobs.unfinished, `${KIND}="video",svc_media_jobs_state="refunding"`);
const overdue = counter(m.mediaJobs.overdue, `${KIND}="video"`);
const written = counter(m.mediaJobs.storageFailures, `${OPERATION}="write"`);

export const mediaAlerts = [
  {
    name: 'MediaJobOverdue',
    severity: 'critical',
    expr: `max by (${KIND}) (${m.mediaJobs.overdue}) > 600`,
    for: '1m',
    summary:
      'A {{ $labels.svc_media_jobs_kind }} job is {{ $value | humanizeDuration }} past its deadline and neither delivered nor refunded.',
    runbook: 'media-job-overdue',
    fires: [flat(overdue, 1_000)],
    quiet: [flat(overdue, 300)],
  },
  {
    name: 'MediaRefundsPending',
    severity: 'critical',
    expr: `max by (${KIND}) (${m.mediaJobs.unfinished}{svc_media_jobs_state="refunding"}) > 0`,
    for: '10m',
    summary:
      'The cost of {{ $value }} failed {{ $labels.svc_media_jobs_kind }} jobs has not been returned for 10 minutes.',
    runbook: 'media-refunds-pending',
    fires: [flat(refunding, 1)],
    quiet: [flat(refunding, 0)],
  },
  {
    name: 'MediaStorageFailing',
    severity: 'critical',
    expr: `sum by (${OPERATION}) (increase(${m.mediaJobs.storageFailures}[5m])) > 5`,
    for: '2m',
    summary:
      'The storage server of videos and music failed {{ $value | humanize }} {{ $labels.svc_media_jobs_storage_operation }} calls in 5 minutes.',
    runbook: 'media-storage-failing',
    fires: [rising(written, 3)],
    quiet: [rising(written, 0.5)],
  },
  {
    name: 'MediaJobsFailing',
    severity: 'warning',
    expr: `sum by (${KIND}) (increase(${m.mediaJobs.ended}{svc_media_jobs_state="failed"}[1h])) > 3 and sum by (${KIND}) (increase(${m.mediaJobs.ended}{svc_media_jobs_state="failed"}[1h])) / sum by (${KIND}) (increase(${m.mediaJobs.ended}[1h])) > 0.5`,
    for: '5m',
    summary: 'More than half of the {{ $labels.svc_media_jobs_kind }} jobs of the last hour have failed.',
    runbook: 'media-jobs-failing',
    fires: [rising(ended('failed'), 1), rising(ended('completed'), 0)],
    quiet: [rising(ended('failed'), 1), rising(ended('completed'), 4)],
  },
];
