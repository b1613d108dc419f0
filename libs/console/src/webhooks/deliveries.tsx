import { useEffect } from 'preact/hooks';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { useFurther } from '../ui/further.js';
import { useResource } from '../ui/resource.js';
import { Empty, ErrorNote, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import type { Endpoint, EndpointCalls, SentDelivery } from './endpoint-calls.js';

/** How soon the outcome of a delivery that was never attempted is looked for. */
const OUTCOME_MS = 1_000;

const STATES = { pending: 'badge', delivered: 'badge good', failed: 'badge danger' } as const;

const Sent = ({ eventType, eventId, createdAt }: SentDelivery) => (
  <span class="words">
    {eventType}
    <br />
    <small class="mono muted">{eventId}</small>
    <br />
    <small>
      <Time at={createdAt} form="second" /> UTC
    </small>
  </span>
);

const Outcome = ({ state, status, fault, tries, nextTryAt }: SentDelivery) => (
  <span class="words">
    <span class={STATES[state]}>{state}</span> {status ?? ''}
    <br />
    <small>
      {tries === 1 ? '1 attempt' : `${tries} attempts`}
      {nextTryAt !== null && (
        <>
          , the next one <Time at={nextTryAt} form="relative" />
        </>
      )}
      {fault !== null && `. ${fault}`}
    </small>
  </span>
);

const COLUMNS: readonly Column<SentDelivery>[] = [
  { title: 'Event', cell: Sent },
  { title: 'Outcome', cell: Outcome },
];

const columnsOf = (onReplay: (delivery: SentDelivery) => void): Column<SentDelivery>[] => [
  ...COLUMNS,
  {
    title: 'Action',
    cell: (delivery) => (
      <button
        type="button"
        class="small"
        aria-label={`Repeat: ${delivery.eventType} ${delivery.eventId}`}
        onClick={() => onReplay(delivery)}
      >
        Repeat
      </button>
    ),
  },
];

interface DeliveriesProps {
  readonly calls: EndpointCalls;
  readonly current: Endpoint;
  /** Whether tests and repetitions are offered. */
  readonly maySend: boolean;
  readonly onClose: () => void;
}

/** What was sent to an endpoint, and a test of it. */
export function Deliveries({ calls, current: { id, url }, maySend, onClose }: DeliveriesProps) {
  const first = useResource((signal) => calls.deliveries(id, undefined, signal), []);
  const further = useFurther(first.value, (before) => calls.deliveries(id, before));
  const isAwaited = first.value?.data.some(({ state, tries }) => state === 'pending' && tries === 0);
  useEffect(() => {
    if (isAwaited !== true || first.isLoading) return undefined;
    const timer = setTimeout(first.reload, OUTCOME_MS);
    return () => clearTimeout(timer);
  }, [isAwaited, first.isLoading]);
  const { error, isBusy, run } = useAction(
    async (work: () => Promise<unknown>) => {
      await work();
      announce('It is on its way');
      first.reload();
    },
    { isRepeatable: true },
  );
  return (
    <Dialog title="Deliveries" atSide onClose={onClose}>
      <div class="row spread">
        <p class="muted words">To {url}, in the last 30 days</p>
        {maySend && (
          <button type="button" disabled={isBusy} onClick={() => void run(() => calls.test(id))}>
            Send a test
          </button>
        )}
      </div>
      {error && <ErrorNote error={error} />}
      <Loaded resource={first} rows={6}>
        {() =>
          further.rows.length === 0 ? (
            <Empty title="No deliveries" />
          ) : (
            <DataTable
              caption="Deliveries, newest first"
              rows={further.rows}
              keyOf={(delivery) => delivery.id}
              columns={
                maySend ? columnsOf((delivery) => void run(() => calls.replay(id, delivery.id))) : COLUMNS
              }
            />
          )
        }
      </Loaded>
      {further.button}
    </Dialog>
  );
}
