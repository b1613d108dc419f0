import { useState } from 'preact/hooks';
import type { ReplyAt } from '../api/routes.js';
import { DeskForm } from '../desk/desk-form.js';
import { ask, may } from '../desk/operator.js';
import { useFurther } from '../ui/further.js';
import { announce } from '../ui/announce.js';
import { DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { KeyName } from '../ui/key-name.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

type Key = ReplyAt<'GET', '/operator/v1/api_keys'>['data'][number];

const PAGE_ROWS = 50;

const TONES = { active: 'good', expired: 'warn', revoked: 'danger' } as const;

interface RevocationProps {
  readonly revoked: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const Revocation = ({ revoked: { id, description, last6Chars }, onClose, onDone }: RevocationProps) => (
  <Dialog title={`Revoke “${description}”?`} onClose={onClose}>
    <DeskForm
      action="Revoke"
      isDanger
      onSubmit={async () => {
        await ask('DELETE', '/operator/v1/api_keys/:id', { params: { id } });
        announce('The key is revoked');
        onClose();
        onDone();
      }}
    >
      {() => <p>Every gateway refuses ···{last6Chars} within a second, permanently.</p>}
    </DeskForm>
  </Dialog>
);

interface KeyTableProps {
  readonly rows: readonly Key[];
  readonly onRevoke: (revoked: Key) => void;
}

const KeyTable = ({ rows, onRevoke }: KeyTableProps) => (
  <DataTable
    caption="Keys, newest first"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      {
        title: 'Key',
        cell: ({ description, last6Chars, apiKeyType, tags }) => (
          <KeyName description={description} last6Chars={last6Chars} apiKeyType={apiKeyType} tags={tags} />
        ),
      },
      {
        title: 'State',
        cell: ({ state, revokedBy }) => (
          <span>
            <span class={`badge ${TONES[state]}`}>{state}</span>{' '}
            {revokedBy !== null && <small>by {revokedBy}</small>}
          </span>
        ),
      },
      {
        title: 'Created',
        cell: ({ createdAt }) => (createdAt === null ? '—' : <Time at={createdAt} form="relative" />),
      },
      {
        title: 'Last used',
        cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} form="relative" />),
      },
      {
        title: 'Action',
        cell: (row) =>
          row.state !== 'revoked' &&
          may('keys') && (
            <button type="button" class="small" onClick={() => onRevoke(row)}>
              Revoke<span class="sr"> the key {row.description}</span>
            </button>
          ),
      },
    ]}
  />
);

interface AccountKeysProps {
  readonly accountId: string;
  /** Changes when something was done with the account. */
  readonly changes: number;
}

/** The keys of an account. */
export function AccountKeys({ accountId, changes }: AccountKeysProps) {
  const [revoked, setRevoked] = useState<Key>();
  const load = (before?: string, signal?: AbortSignal) =>
    ask('GET', '/operator/v1/api_keys', {
      query: { accountId, limit: PAGE_ROWS, before },
      ...(signal && { signal }),
    });
  const first = useResource((signal) => load(undefined, signal), [accountId, changes]);
  const { rows, button } = useFurther(first.value, load);
  return (
    <section class="card" aria-label="Keys">
      <Loaded resource={first} rows={3}>
        {() =>
          rows.length === 0 ? <Empty title="No keys" /> : <KeyTable rows={rows} onRevoke={setRevoked} />
        }
      </Loaded>
      {button}
      {revoked && (
        <Revocation revoked={revoked} onClose={() => setRevoked(undefined)} onDone={first.reload} />
      )}
    </section>
  );
}
