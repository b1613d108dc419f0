// Panels about jobs that make videos and music, in the format of `service-boards.mjs`. They are part of the
// inference board.
import { m, most } from './names.mjs';

const KIND = 'svc_media_jobs_kind';
const STATE = 'svc_media_jobs_state';

export const mediaPanels = [
  { row: 'Do jobs of videos and music end?' },
  {
    title: 'Unfinished jobs',
    unit: 'short',
    bad: '`queued` rising: the backends have no room. `refunding` for minutes: costs are not returned.',
    todo: 'Add backends; for `refunding` runbook media-refunds-pending.',
    queries: [[most(m.mediaJobs.unfinished, `${KIND}, ${STATE}`), `{{${KIND}}} {{${STATE}}}`, '0']],
  },
  {
    title: 'Age of the oldest unfinished job',
    unit: 's',
    bad: 'Longer than its model takes.',
    todo: 'Check the backends of its model.',
    queries: [[most(m.mediaJobs.oldest, KIND), `{{${KIND}}}`, '0']],
  },
  {
    title: 'Longest time past a deadline',
    unit: 's',
    bad: 'Above 10 minutes: no worker does the job.',
    todo: 'Runbook media-job-overdue.',
    queries: [[most(m.mediaJobs.overdue, KIND), `{{${KIND}}}`, '0']],
  },
  {
    title: 'Ended jobs, an hour',
    unit: 'short',
    bad: 'As many `failed` as `completed`.',
    todo: 'Runbook media-jobs-failing.',
    queries: [
      [`sum by (${KIND}, ${STATE}) (increase(${m.mediaJobs.ended}[1h]))`, `{{${KIND}}} {{${STATE}}}`, '0'],
    ],
  },
  {
    title: 'Refunded jobs, an hour',
    unit: 'short',
    bad: 'Fewer than have failed.',
    todo: 'Runbook media-refunds-pending.',
    queries: [[`sum by (${KIND}) (increase(${m.mediaJobs.refunds}[1h]))`, `{{${KIND}}}`, '0']],
  },
  {
    title: 'Failed calls of the storage server, 5 minutes',
    unit: 'short',
    bad: 'Above 5: results can be neither stored nor downloaded.',
    todo: 'Runbook media-storage-failing.',
    queries: [
      [
        `sum by (svc_media_jobs_storage_operation) (increase(${m.mediaJobs.storageFailures}[5m]))`,
        '{{svc_media_jobs_storage_operation}}',
        '0',
      ],
    ],
  },
];
