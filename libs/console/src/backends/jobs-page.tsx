import { useState } from 'preact/hooks';
import type { ReplyAt } from '../api/routes.js';
import { DeskForm } from '../desk/desk-form.js';
import { ask, may } from '../desk/operator.js';
import { useFurther } from '../ui/further.js';
import { ReasonField } from '../desk/text-field.js';
import { addressOfPage, choices, choose } from '../shell/navigation.js';
import { textIn } from '../text/form-text.js';
import { announce } from '../ui/announce.js';
import { DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { Select } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

type Job = ReplyAt<'GET', '/operator/v1/jobs'>['data'][number];

const PAGE_ROWS = 50;

const CHOICES = [
  ['unfinished', 'Under way'],
  ['all', 'All'],
] as const;

interface EndingProps {
  readonly job: Job;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const Ending = ({ job: { id, kind, model }, onClose, onDone }: EndingProps) => (
  <Dialog title="End the job" onClose={onClose}>
    <DeskForm
      action="End it"
      isDanger
      question={() => `End this ${kind} of ${model}, and return its cost?`}
      onSubmit={async (data) => {
        const body = { reason: textIn(data, 'reason') };
        await ask('POST', '/operator/v1/jobs/:id/end', { params: { id }, body });
        announce('The job is ended');
        onClose();
        onDone();
      }}
    >
      {(faults) => <ReasonField problem={faults.get('reason')} autofocus />}
    </DeskForm>
  </Dialog>
);

interface JobTableProps {
  readonly rows: readonly Job[];
  readonly onEnd: (job: Job) => void;
}

const JobTable = ({ rows, onEnd }: JobTableProps) => (
  <DataTable
    caption="Jobs, newest first"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      { title: 'Asked for', cell: ({ createdAt }) => <Time at={createdAt} form="relative" /> },
      {
        title: 'Job',
        cell: ({ id, kind, model }) => (
          <span>
            {kind} of {model}
            <br />
            <span class="mono muted">{id}</span>
          </span>
        ),
      },
      {
        title: 'State',
        cell: ({ state, failure }) => (
          <span>
            {state}
            {failure && <small> {failure.message}</small>}
          </span>
        ),
      },
      {
        title: 'Account',
        cell: ({ accountId }) => (
          <a class="mono" href={addressOfPage('', { id: accountId })}>
            {accountId.slice(0, 8)}
          </a>
        ),
      },
      {
        title: 'Action',
        cell: (job) =>
          job.endedAt === null &&
          may('money') && (
            <button type="button" class="small" onClick={() => onEnd(job)}>
              End<span class="sr"> the job {job.id}</span>
            </button>
          ),
      },
    ]}
  />
);

/** The jobs that make videos and music. */
export function JobsPage() {
  const [ended, setEnded] = useState<Job>();
  const which = choices.value.get('state') === 'all' ? 'all' : 'unfinished';
  const load = (before?: string, signal?: AbortSignal) =>
    ask('GET', '/operator/v1/jobs', {
      query: { limit: PAGE_ROWS, before, ...(which === 'unfinished' && { state: which }) },
      ...(signal && { signal }),
    });
  const first = useResource((signal) => load(undefined, signal), [which]);
  const { rows, button } = useFurther(first.value, load);
  return (
    <>
      <div class="filters">
        <Select
          label="Which"
          value={which}
          options={CHOICES}
          onChange={(state) => choose({ state: state === 'all' ? state : '' })}
        />
      </div>
      <section class="card" aria-label="Jobs">
        <Loaded resource={first} rows={5}>
          {() =>
            rows.length === 0 ? (
              <Empty title="No jobs">
                <span>{which === 'all' ? 'Nobody has asked for any yet.' : 'None is under way.'}</span>
              </Empty>
            ) : (
              <JobTable rows={rows} onEnd={setEnded} />
            )
          }
        </Loaded>
        {button}
      </section>
      {ended && <Ending job={ended} onClose={() => setEnded(undefined)} onDone={first.reload} />}
    </>
  );
}
