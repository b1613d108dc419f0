import { useState } from 'preact/hooks';
import { announce } from '../ui/announce.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { Deliveries } from './deliveries.js';
import { type Endpoint, type EndpointCalls, mailAddress } from './endpoint-calls.js';
import { Confirmation, Deletion, SecretRotation, WebhookSecret } from './endpoint-dialogs.js';
import { EndpointForm } from './endpoint-form.js';

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'created'; readonly secret: string }
  | { readonly kind: Kind; readonly current: Endpoint };

const ACTIONS = {
  confirm: 'Confirm',
  deliveries: 'Deliveries',
  edit: 'Edit',
  rotate: 'Rotate',
  delete: 'Delete',
} as const;
type Kind = keyof typeof ACTIONS;

function kindsOf(endpoint: Endpoint, mayChange: boolean): Kind[] {
  if (!mayChange) return ['deliveries'];
  const kinds: Kind[] = endpoint.state === 'unconfirmed' ? ['confirm', 'deliveries'] : ['deliveries'];
  return mailAddress(endpoint) === undefined
    ? [...kinds, 'edit', 'rotate', 'delete']
    : [...kinds, 'edit', 'delete'];
}

const STATES = {
  enabled: ['badge good', 'enabled'],
  disabled: ['badge', 'disabled'],
  gone: ['badge danger', 'ended by a response with 410'],
  failing: ['badge danger', 'ended after five days of failures'],
  unconfirmed: ['badge', 'not confirmed'],
} as const;

function State({ state }: Endpoint) {
  const [look, text] = STATES[state];
  return <span class={look}>{text}</span>;
}

const columnsOf = (mayChange: boolean, open: (next: Open) => void): Column<Endpoint>[] => [
  { title: 'URL', cell: ({ url }) => <span class="words">{url}</span>, sortBy: ({ url }) => url },
  { title: 'State', cell: State, sortBy: ({ state }) => state },
  { title: 'Events', cell: ({ events }) => <small class="words">{events.join(', ')}</small> },
  {
    title: 'Created',
    cell: ({ createdAt }) => <Time at={createdAt} form="relative" />,
    sortBy: ({ createdAt }) => createdAt,
  },
  {
    title: 'Actions',
    cell: (current) => (
      <span class="row end">
        {kindsOf(current, mayChange).map((kind) => (
          <button
            key={kind}
            type="button"
            class="small"
            aria-label={`${ACTIONS[kind]}: ${current.url}`}
            onClick={() => open({ kind, current })}
          >
            {ACTIONS[kind]}
          </button>
        ))}
      </span>
    ),
  },
];

interface EndpointsProps {
  readonly calls: EndpointCalls;
  /** Whether the reader may change something. */
  readonly mayChange: boolean;
}

interface OpenDialogProps extends EndpointsProps {
  readonly open: Open;
  readonly onChange: (next: Open | undefined) => void;
  readonly onDone: () => void;
}

function OpenDialog({ calls, mayChange, open, onChange, onDone }: OpenDialogProps) {
  const close = () => {
    onChange(undefined);
    onDone();
  };
  if (open.kind === 'create')
    return (
      <Dialog title="Add an endpoint" atSide onClose={() => onChange(undefined)}>
        <EndpointForm
          calls={calls}
          action="Add"
          onSubmit={async (terms) => {
            const { secret, ...current } = await calls.create(terms);
            onChange(secret === null ? { kind: 'confirm', current } : { kind: 'created', secret });
          }}
        />
      </Dialog>
    );
  if (open.kind === 'created') return <WebhookSecret secret={open.secret} onClose={close} />;
  const { current } = open;
  if (open.kind === 'deliveries')
    return <Deliveries calls={calls} current={current} maySend={mayChange} onClose={close} />;
  if (open.kind === 'confirm') return <Confirmation calls={calls} current={current} onClose={close} />;
  if (open.kind === 'rotate') return <SecretRotation calls={calls} current={current} onClose={close} />;
  if (open.kind === 'delete') return <Deletion calls={calls} current={current} onClose={close} />;
  return (
    <Dialog title="Edit the endpoint" atSide onClose={() => onChange(undefined)}>
      <EndpointForm
        calls={calls}
        current={current}
        action="Save"
        onSubmit={async (terms) => {
          await calls.change(current, terms);
          announce('Saved');
          close();
        }}
      />
    </Dialog>
  );
}

/** Where somebody is notified, with the actions that the reader may take. */
export function EndpointsSection({ calls, mayChange }: EndpointsProps) {
  const [open, setOpen] = useState<Open>();
  const endpoints = useResource(calls.list, []);
  return (
    <>
      <div class="row spread">
        <p class="muted">
          {calls.confirm ? 'Servers and e-mail addresses' : 'Servers'} of yours that are notified of events,
          newest first, at most 10.
        </p>
        {mayChange && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
            Add an endpoint
          </button>
        )}
      </div>
      <section class="card" aria-label="Endpoints">
        <Loaded resource={endpoints} rows={3}>
          {(data) =>
            data.length === 0 ? (
              <Empty title="No endpoints">
                <span>Add the address of a server that should be notified.</span>
              </Empty>
            ) : (
              <DataTable
                caption="Endpoints"
                columns={columnsOf(mayChange, setOpen)}
                rows={data}
                keyOf={({ id }) => id}
              />
            )
          }
        </Loaded>
      </section>
      {open && (
        <OpenDialog
          calls={calls}
          mayChange={mayChange}
          open={open}
          onChange={setOpen}
          onDone={endpoints.reload}
        />
      )}
    </>
  );
}
