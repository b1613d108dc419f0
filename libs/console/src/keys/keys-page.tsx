import type { ApiKeyView } from '@svc/api/keys';
import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import { PERIODS, PRIVACIES, limitsOf, resetOf } from '../text/limits.js';
import { count, diem, nanoOf, usd, usdFour, usdText } from '../text/format.js';
import { announce } from '../ui/announce.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { KeyName } from '../ui/key-name.js';
import { useResource } from '../ui/resource.js';
import { Empty, ErrorNote, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { changeKey, createKey, revokeKey } from './key-calls.js';
import { KeyForm } from './key-form.js';
import { NewKeyDialog } from './new-key-dialog.js';
import { restrictionTexts } from './restrictions.js';
import { Rotation } from './rotation.js';

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'created'; readonly secret: string; readonly isAdmin: boolean }
  | { readonly kind: 'edit' | 'rotate' | 'revoke'; readonly current: ApiKeyView };

const Name = (key: ApiKeyView) => (
  <KeyName {...key}>{key.disabled === true && <span class="badge">disabled</span>}</KeyName>
);

/** The spending limits of a key, how much of them is used, and when they begin again. */
function LimitView({ limited }: { readonly limited: ApiKeyView }) {
  const limits = limitsOf(limited);
  const reset = resetOf(limited.limitPeriod);
  if (limits.length === 0) return <span class="muted">No limit of its own</span>;
  return (
    <span>
      {limits.map(({ spent, limit, part }) => (
        <span key={limit}>
          {spent} of {limit} {PERIODS[limited.limitPeriod].each}
          <progress
            class={part >= 1 ? 'meter full' : 'meter'}
            value={part}
            aria-label={`${spent} of ${limit}`}
          />
        </span>
      ))}
      {reset !== undefined && (
        <small>
          resets <Time at={reset} form="relative" />
        </small>
      )}
    </span>
  );
}

function Terms({ terms }: { readonly terms: ApiKeyView }) {
  const { requestsPerMinute, tokensPerMinute, modelPrivacy, fallbackModels, maxCostPerRequest } = terms;
  return (
    <small>
      {PRIVACIES[modelPrivacy]}
      {maxCostPerRequest !== undefined && ` · at most ${usd(maxCostPerRequest)} a request`}
      {requestsPerMinute !== undefined && ` · ${count(requestsPerMinute)} requests/min`}
      {tokensPerMinute !== undefined && ` · ${count(tokensPerMinute)} tokens/min`}
      {restrictionTexts(terms).map((text) => ` · ${text}`)}
      {fallbackModels && ` · falls back to ${fallbackModels.join(', ')}`}
    </small>
  );
}

const spentOf = ({ usage }: ApiKeyView): bigint | undefined =>
  usage && nanoOf(Number(usage.trailingSevenDays.usd)) + nanoOf(Number(usage.trailingSevenDays.diem));

const Spent = ({ usage }: ApiKeyView) => (
  <span>
    {usage ? usdText(usage.trailingSevenDays.usd) : '—'}
    {usage && Number(usage.trailingSevenDays.diem) > 0 && (
      <small>
        <br />
        {diem(Number(usage.trailingSevenDays.diem))}
      </small>
    )}
  </span>
);

const columnsOf = (open: (next: Open) => void, data: readonly ApiKeyView[]): Column<ApiKeyView>[] => [
  { title: 'Key', cell: Name, sortBy: ({ description }) => description },
  {
    title: 'Created',
    cell: ({ createdAt }) => createdAt && <Time at={createdAt} form="relative" />,
    sortBy: ({ createdAt }) => createdAt ?? '',
  },
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} form="relative" /> : 'never'),
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? '',
  },
  {
    title: 'Expires',
    cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} form="relative" /> : 'never'),
    sortBy: ({ expiresAt }) => expiresAt ?? '~',
  },
  {
    title: 'Terms',
    cell: (key) => (
      <span>
        <LimitView limited={key} />
        <br />
        <Terms terms={key} />
      </span>
    ),
  },
  {
    title: 'Spent in 7 days',
    cell: Spent,
    sortBy: (key) => spentOf(key) ?? -1n,
    isNumeric: true,
    total: usdFour(data.reduce((total, key) => total + (spentOf(key) ?? 0n), 0n)),
  },
  {
    title: 'Actions',
    cell: (current) => (
      <span class="row end">
        {(['edit', 'rotate', 'revoke'] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            class="small"
            aria-label={`${ACTIONS[kind]}: ${current.description}`}
            onClick={() => open({ kind, current })}
          >
            {ACTIONS[kind]}
          </button>
        ))}
      </span>
    ),
  },
];

const ACTIONS = { edit: 'Edit', rotate: 'Rotate', revoke: 'Revoke' } as const;

interface RevocationProps {
  readonly current: ApiKeyView;
  readonly onClose: () => void;
}

function Revocation({ current, onClose }: RevocationProps) {
  const [error, setError] = useState<Error>();
  const revoke = async () => {
    try {
      await revokeKey(current.id);
      announce('The key is revoked');
      onClose();
    } catch (cause) {
      setError(cause as Error);
    }
  };
  return (
    <Dialog title={`Revoke “${current.description}”?`} onClose={onClose}>
      <p>
        Requests with ···{current.last6Chars} are refused within a second, permanently. Sessions of this
        console that were opened with it end.
      </p>
      {error && <ErrorNote error={error} />}
      <div class="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => void revoke()}>
          Revoke
        </button>
      </div>
    </Dialog>
  );
}

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
      <Dialog title="Create a key" atSide onClose={() => onChange(undefined)}>
        <KeyForm
          action="Create"
          onSubmit={async (terms, type) => {
            const secret = await createKey(terms, type);
            onChange({ kind: 'created', secret, isAdmin: type === 'ADMIN' });
          }}
        />
      </Dialog>
    );
  if (open.kind === 'created')
    return <NewKeyDialog secret={open.secret} isAdmin={open.isAdmin} onClose={close} />;
  const { current } = open;
  if (open.kind === 'rotate') return <Rotation current={current} onClose={close} />;
  if (open.kind === 'revoke') return <Revocation current={current} onClose={close} />;
  return (
    <Dialog title={`Edit “${current.description}”`} atSide onClose={() => onChange(undefined)}>
      <KeyForm
        current={current}
        action="Save"
        onSubmit={async (terms) => {
          await changeKey(current.id, terms);
          announce('Saved');
          close();
        }}
      />
    </Dialog>
  );
}

/** The keys of the account. */
export function KeysPage() {
  const [open, setOpen] = useState<Open>();
  const keys = useResource(async (signal) => (await call('GET', '/api/v1/api_keys', { signal })).data, []);
  const create = (
    <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
      Create a key
    </button>
  );
  return (
    <>
      <div class="row spread">
        <p class="muted">Keys that are neither revoked nor expired, newest first. An account may have 500.</p>
        {create}
      </div>
      <section class="card" aria-label="Keys">
        <Loaded resource={keys} rows={6}>
          {(data) =>
            data.length === 0 ? (
              <Empty title="No keys">
                <span>Create one to call the API.</span>
              </Empty>
            ) : (
              <DataTable
                caption="Keys"
                columns={columnsOf(setOpen, data)}
                rows={data}
                keyOf={({ id }) => id}
              />
            )
          }
        </Loaded>
      </section>
      {open && <OpenDialog open={open} onChange={setOpen} onDone={keys.reload} />}
    </>
  );
}
