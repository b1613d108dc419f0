import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyAt } from '../api/routes.js';
import { amountsText } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { useFurther } from '../ui/further.js';
import { Scoped } from '../desk/scoped.js';
import { addressOfPage, choices, choose } from '../shell/navigation.js';
import { DataTable } from '../ui/data-table.js';
import { Field, Select } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { AccountBadges } from './account-badges.js';
import { AccountView } from './account-view.js';
import { OpenAccount } from './open-account.js';

type ListedAccount = ReplyAt<'GET', '/operator/v1/accounts'>['data'][number];

const PAGE_ROWS = 50;

const STATES = [
  ['', 'All states'],
  ['active', 'Active'],
  ['suspended', 'Suspended'],
] as const;
const KINDS = [
  ['', 'All kinds'],
  ['account', 'Accounts'],
  ['wallet', 'Wallets'],
] as const;

const chosen = <T extends string>(options: readonly (readonly [T, string])[], name: string): T | '' =>
  options.find(([option]) => option === choices.value.get(name))?.[0] ?? '';

const Filters = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="filters">
    <Field label="Name, id or wallet">
      <input
        type="search"
        value={choices.value.get('search') ?? ''}
        onChange={(event) => choose({ search: event.currentTarget.value.trim() })}
      />
    </Field>
    <Select
      label="State"
      value={chosen(STATES, 'state')}
      options={STATES}
      onChange={(state) => choose({ state })}
    />
    <Select
      label="Kind"
      value={chosen(KINDS, 'kind')}
      options={KINDS}
      onChange={(kind) => choose({ kind })}
    />
    <span class="at-end">{children}</span>
  </div>
);

const AccountTable = ({ rows }: { readonly rows: readonly ListedAccount[] }) => (
  <DataTable
    caption="Accounts, newest first"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      {
        title: 'Account',
        cell: ({ id, name }) => (
          <span>
            <a href={addressOfPage('', { id })}>{name}</a>
            <br />
            <span class="mono muted">{id}</span>
          </span>
        ),
        sortBy: ({ name }) => name,
      },
      { title: 'Terms', cell: (account) => <AccountBadges account={account} /> },
      {
        title: 'Opened',
        cell: ({ createdAt }) => (createdAt === null ? '—' : <Time at={createdAt} form="relative" />),
        sortBy: ({ createdAt }) => createdAt ?? '',
      },
      {
        title: 'Balance',
        cell: ({ balances }) => (balances === null ? 'not known' : amountsText(balances)),
        isNumeric: true,
      },
    ]}
  />
);

function AccountList() {
  const [isOpening, setOpening] = useState(false);
  const query = {
    search: choices.value.get('search') ?? '',
    state: chosen(STATES, 'state') || undefined,
    kind: chosen(KINDS, 'kind') || undefined,
    limit: PAGE_ROWS,
  };
  const load = (more: { before?: string } = {}, signal?: AbortSignal) =>
    ask('GET', '/operator/v1/accounts', { query: { ...query, ...more }, ...(signal && { signal }) });
  const first = useResource((signal) => load({}, signal), [JSON.stringify(query)]);
  const { rows, button } = useFurther(first.value, (before) => load({ before }));
  return (
    <>
      <Filters>
        <Scoped scope="keys" what="Opening an account">
          <button type="button" class="primary" onClick={() => setOpening(true)}>
            Open an account
          </button>
        </Scoped>
      </Filters>
      <section class="card" aria-label="Accounts">
        <Loaded resource={first} rows={8}>
          {() =>
            rows.length === 0 ? (
              <Empty title="No accounts">
                <span>
                  No account matches. A wallet that nobody has opened is found by its whole address.
                </span>
              </Empty>
            ) : (
              <AccountTable rows={rows} />
            )
          }
        </Loaded>
        {button}
      </section>
      {isOpening && (
        <OpenAccount
          onClose={() => {
            setOpening(false);
            first.reload();
          }}
        />
      )}
    </>
  );
}

/** The accounts, or the one in the address. */
export function AccountsPage() {
  const id = choices.value.get('id');
  return id === null ? <AccountList /> : <AccountView key={id} id={id} />;
}
