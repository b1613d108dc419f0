import { useEffect, useState } from 'preact/hooks';
import type { ReplyAt } from '../api/routes.js';
import { ask, may } from '../desk/operator.js';
import { count } from '../text/format.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { DrainDialog } from './drain-dialog.js';

type BackendList = ReplyAt<'GET', '/operator/v1/backends'>;
type BackendRow = BackendList['data'][number];

const REFRESH_MS = 5_000;

const TONES = {
  up: 'good',
  full: 'warn',
  behind: 'warn',
  cooling: 'danger',
  wrong_chain: 'danger',
  draining: '',
  off: '',
} as const;

const Health = ({ state, reason }: BackendRow) => (
  <span>
    <span class={`badge ${TONES[state]}`}>{state.replaceAll('_', ' ')}</span>
    {reason !== null && (
      <>
        <br />
        <small>{reason}</small>
      </>
    )}
  </span>
);

const milliseconds = (ms: number | null): string => (ms === null ? '–' : `${count(ms)} ms`);

interface BackendTableProps {
  readonly rows: readonly BackendRow[];
  readonly onChange: (row: BackendRow) => void;
}

const share = (value: number | null): string => (value === null ? '–' : `${Math.round(value * 100)} %`);

/** How a backend does: its calls, how soon they begin, and how they end. */
const FIGURES: readonly Column<BackendRow>[] = [
  {
    title: 'Under way',
    cell: ({ inFlight, maxInFlight }) => `${count(inFlight)} of ${count(maxInFlight)}`,
    sortBy: ({ inFlight }) => inFlight,
    isNumeric: true,
  },
  {
    title: 'Waiting',
    cell: ({ waiting }) => count(waiting),
    sortBy: ({ waiting }) => waiting,
    isNumeric: true,
  },
  {
    title: 'First token',
    cell: ({ firstTokenP50Ms, firstTokenP99Ms }) => (
      <span>
        {milliseconds(firstTokenP50Ms)}
        {firstTokenP99Ms !== null && (
          <>
            <br />
            <small class="muted">p99 {milliseconds(firstTokenP99Ms)}</small>
          </>
        )}
      </span>
    ),
    sortBy: ({ firstTokenP50Ms }) => firstTokenP50Ms ?? -1,
    isNumeric: true,
  },
  {
    title: 'Failed',
    cell: ({ failedShare }) => share(failedShare),
    sortBy: ({ failedShare }) => failedShare ?? -1,
    isNumeric: true,
  },
  {
    title: 'Cached',
    cell: ({ hitShare }) => share(hitShare),
    sortBy: ({ hitShare }) => hitShare ?? -1,
    isNumeric: true,
  },
];

const BackendTable = ({ rows, onChange }: BackendTableProps) => (
  <DataTable
    caption="Backends"
    rows={rows}
    keyOf={({ model, name, url }) => `${model} ${name} ${url}`}
    columns={[
      {
        title: 'Model',
        cell: ({ model }) => <span class="mono">{model}</span>,
        sortBy: ({ model }) => model,
      },
      {
        title: 'Backend',
        cell: ({ name, url }) => (
          <span>
            <strong>{name}</strong>
            <br />
            <span class="mono muted">{url}</span>
          </span>
        ),
        sortBy: ({ name }) => name,
      },
      { title: 'State', cell: Health, sortBy: ({ state }) => state },
      ...FIGURES,
      {
        title: 'Action',
        cell: (row) =>
          may('keys') && (
            <button type="button" class="small" onClick={() => onChange(row)}>
              {row.drainedAs === null ? 'Take out' : 'Put back'}
              <span class="sr">
                {' '}
                {row.name} of {row.model}
              </span>
            </button>
          ),
      },
    ]}
  />
);

/** All backends and how they are doing. */
export function BackendsPage() {
  const backends = useResource((signal) => ask('GET', '/operator/v1/backends', { signal }), []);
  const { reload } = backends;
  const [changed, setChanged] = useState<BackendRow>();
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <Loaded resource={backends} rows={6}>
      {({ data, routers }) => (
        <div class="stack">
          <p class="muted">
            {routers === 1 ? 'As one router sees them' : `As ${routers} routers see them together`}, read
            again every five seconds.
          </p>
          <section class="card" aria-label="Backends">
            {data.length === 0 ? (
              <Empty title="No backends" />
            ) : (
              <BackendTable rows={data} onChange={setChanged} />
            )}
          </section>
          {changed && <DrainDialog row={changed} onClose={() => setChanged(undefined)} onDone={reload} />}
        </div>
      )}
    </Loaded>
  );
}
