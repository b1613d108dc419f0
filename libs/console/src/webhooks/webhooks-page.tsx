import { useState } from 'preact/hooks';
import { announce } from '../ui/announce.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { AlertsSection } from './alerts.js';
import { Deliveries } from './deliveries.js';
import { Deletion, SecretRotation, WebhookSecret } from './endpoint-dialogs.js';
import { EndpointForm } from './endpoint-form.js';
import { type Endpoint, changeEndpoint, createEndpoint, listEndpoints } from './webhook-calls.js';

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'created'; readonly secret: string }
  | { readonly kind: keyof typeof ACTIONS; readonly current: Endpoint };

const ACTIONS = { deliveries: 'Deliveries', edit: 'Edit', rotate: 'Rotate', delete: 'Delete' } as const;

const STATES = {
  enabled: ['badge good', 'enabled'],
  disabled: ['badge', 'disabled'],
  gone: ['badge danger', 'ended by a response with 410'],
  failing: ['badge danger', 'ended after five days of failures'],
} as const;

function State({ state }: Endpoint) {
  const [look, text] = STATES[state];
  return <span class={look}>{text}</span>;
}

const columnsOf = (open: (next: Open) => void): Column<Endpoint>[] => [
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
        {(['deliveries', 'edit', 'rotate', 'delete'] as const).map((kind) => (
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

interface OpenDialogProps {
  readonly open: Open;
  readonly onChange: (next: Open | undefined) => void;
  readonly onDone: () => void;
}

function OpenDialog({ open, onChange, onDone }: OpenDialogProps) {
  const close = () => {
    onChange(undefined);
    onDone();
  };
  if (open.kind === 'create')
    return (
      <Dialog title="Add an endpoint" atSide onClose={() => onChange(undefined)}>
        <EndpointForm
          action="Add"
          onSubmit={async (terms) => onChange({ kind: 'created', secret: await createEndpoint(terms) })}
        />
      </Dialog>
    );
  if (open.kind === 'created') return <WebhookSecret secret={open.secret} onClose={close} />;
  const { current } = open;
  if (open.kind === 'deliveries') return <Deliveries current={current} onClose={close} />;
  if (open.kind === 'rotate') return <SecretRotation current={current} onClose={close} />;
  if (open.kind === 'delete') return <Deletion current={current} onClose={close} />;
  return (
    <Dialog title="Edit the endpoint" atSide onClose={() => onChange(undefined)}>
      <EndpointForm
        current={current}
        action="Save"
        onSubmit={async (terms) => {
          await changeEndpoint(current, terms);
          announce('Saved');
          close();
        }}
      />
    </Dialog>
  );
}

/** Where the account is notified of what happens to it, and of which amounts. */
export function WebhooksPage() {
  const [open, setOpen] = useState<Open>();
  const endpoints = useResource(listEndpoints, []);
  return (
    <>
      <div class="row spread">
        <p class="muted">
          Servers of yours that are notified of events, newest first. An account may have 10.
        </p>
        <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
          Add an endpoint
        </button>
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
                columns={columnsOf(setOpen)}
                rows={data}
                keyOf={({ id }) => id}
              />
            )
          }
        </Loaded>
      </section>
      <AlertsSection />
      {open && <OpenDialog open={open} onChange={setOpen} onDone={endpoints.reload} />}
    </>
  );
}
