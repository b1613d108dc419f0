import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import type { ReplyAt } from '../api/routes.js';
import { choices, choose } from '../shell/navigation.js';
import { PeriodChoice, currentPeriod } from '../shell/period.js';
import { count, diem, nanoOf, usdNine } from '../text/format.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Field } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { ALL_OTHERS, Forgetting, UserLimits } from './user-dialogs.js';

type UserRow = ReplyAt<'GET', '/api/v1/billing/usage-analytics/users'>['data'][number];

interface Open {
  readonly kind: 'limits' | 'forget';
  readonly user: string;
}

const ACTIONS = [
  ['limits', 'Limits'],
  ['forget', 'Forget'],
] as const;

const columnsOf = (open: (next: Open) => void): Column<UserRow>[] => [
  {
    title: 'User',
    cell: ({ endUser }) => <span class="mono words">{endUser}</span>,
    sortBy: ({ endUser }) => endUser,
  },
  {
    title: 'Requests',
    isNumeric: true,
    cell: ({ requests }) => count(requests),
    sortBy: ({ requests }) => requests,
  },
  {
    title: 'Input',
    isNumeric: true,
    cell: ({ promptTokens }) => count(promptTokens),
    sortBy: ({ promptTokens }) => promptTokens,
  },
  {
    title: 'Output',
    isNumeric: true,
    cell: ({ completionTokens }) => count(completionTokens),
    sortBy: ({ completionTokens }) => completionTokens,
  },
  { title: 'USD', isNumeric: true, cell: ({ usd }) => usdNine(nanoOf(usd)), sortBy: ({ usd }) => usd },
  { title: 'DIEM', isNumeric: true, cell: (row) => diem(nanoOf(row.diem)), sortBy: (row) => row.diem },
  {
    title: 'Actions',
    cell: ({ endUser: user }) => (
      <span class="row end">
        {ACTIONS.map(([kind, text]) => (
          <button
            key={kind}
            type="button"
            class="small"
            aria-label={`${text}: ${user}`}
            onClick={() => open({ kind, user })}
          >
            {text}
          </button>
        ))}
      </span>
    ),
  },
];

interface FiltersProps {
  readonly onOpen: (next: Open) => void;
}

function Filters({ onOpen }: FiltersProps) {
  const user = choices.value.get('user') ?? '';
  return (
    <div class="filters">
      <PeriodChoice />
      <Field label="User">
        <input
          type="search"
          value={user}
          maxLength={512}
          placeholder="As in requests"
          onChange={(event) => choose({ user: event.currentTarget.value.trim() })}
        />
      </Field>
      {user !== '' && (
        <button type="button" onClick={() => onOpen({ kind: 'limits', user })}>
          Limits of this user
        </button>
      )}
      <button type="button" onClick={() => onOpen({ kind: 'limits', user: ALL_OTHERS })}>
        Limits of all others
      </button>
    </div>
  );
}

/** What the account's own users spend, and what they may. */
export function EndUsersPage() {
  const [open, setOpen] = useState<Open>();
  const { startDate, endDate } = currentPeriod();
  const user = choices.value.get('user') ?? undefined;
  const users = useResource(
    async (signal) => {
      const query = { startDate, endDate, user };
      return (await call('GET', '/api/v1/billing/usage-analytics/users', { query, signal })).data;
    },
    [startDate, endDate, user],
  );
  const close = () => {
    setOpen(undefined);
    users.reload();
  };
  return (
    <>
      <p class="muted">
        Those that your requests name, by a hash that only this account has; the 100 that spent most.
      </p>
      <Filters onOpen={setOpen} />
      <section class="card" aria-label="Users">
        <Loaded resource={users} rows={6}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No users in this period">
                <span>
                  Requests name one in <code>user</code>, <code>safety_identifier</code> or{' '}
                  <code>metadata.user_id</code>.
                </span>
              </Empty>
            ) : (
              <DataTable
                caption="Users, those that spent most first"
                columns={columnsOf(setOpen)}
                rows={rows}
                keyOf={({ endUser }) => endUser}
              />
            )
          }
        </Loaded>
      </section>
      {open?.kind === 'limits' && <UserLimits user={open.user} onClose={close} />}
      {open?.kind === 'forget' && <Forgetting user={open.user} onClose={close} />}
    </>
  );
}
