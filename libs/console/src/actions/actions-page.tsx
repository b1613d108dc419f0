import type { ReplyAt } from '../api/routes.js';
import { ask } from '../desk/operator.js';
import { useFurther } from '../ui/further.js';
import { choices, choose } from '../shell/navigation.js';
import { DataTable } from '../ui/data-table.js';
import { Field } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

type DoneAction = ReplyAt<'GET', '/operator/v1/actions'>['data'][number];

const PAGE_ROWS = 50;
const FILTERS = [
  ['token', 'Token'],
  ['action', 'Action'],
  ['target', 'Account, key or payment'],
] as const;

/** The members of a body, as a reader would note them. */
function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '—';
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ');
}

const Result = ({ status, code }: DoneAction) =>
  status === null ? (
    <span class="badge warn">not known</span>
  ) : status < 300 ? (
    <span class="badge good">done</span>
  ) : (
    <span class="badge danger">{code ?? status}</span>
  );

const ActionTable = ({ rows }: { readonly rows: readonly DoneAction[] }) => (
  <DataTable
    caption="Actions, newest first"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      { title: 'Time (UTC)', cell: ({ at }) => <Time at={at} form="second" /> },
      { title: 'Token', cell: ({ token }) => token },
      {
        title: 'Action',
        cell: ({ action, target }) => (
          <span>
            {action}
            {target !== null && (
              <>
                <br />
                <span class="mono muted">{target}</span>
              </>
            )}
          </span>
        ),
      },
      {
        title: 'With',
        cell: ({ input }) => <span class="words">{inputText(input)}</span>,
      },
      { title: 'Result', cell: Result },
    ]}
  />
);

/** What operators have done. */
export function ActionsPage() {
  const search = choices.value;
  const query = Object.fromEntries(FILTERS.map(([name]) => [name, search.get(name) ?? '']));
  const load = (before?: string, signal?: AbortSignal) =>
    ask('GET', '/operator/v1/actions', {
      query: { ...query, limit: PAGE_ROWS, before },
      ...(signal && { signal }),
    });
  const first = useResource((signal) => load(undefined, signal), [JSON.stringify(query)]);
  const { rows, button } = useFurther(first.value, load);
  return (
    <>
      <div class="filters">
        {FILTERS.map(([name, label]) => (
          <Field key={name} label={label}>
            <input
              type="search"
              value={search.get(name) ?? ''}
              onChange={(event) => choose({ [name]: event.currentTarget.value.trim() })}
            />
          </Field>
        ))}
      </div>
      <section class="card" aria-label="Actions">
        <Loaded resource={first} rows={8}>
          {() =>
            rows.length === 0 ? (
              <Empty title="No actions">
                <span>Nobody has done anything that matches.</span>
              </Empty>
            ) : (
              <ActionTable rows={rows} />
            )
          }
        </Loaded>
        {button}
      </section>
    </>
  );
}
