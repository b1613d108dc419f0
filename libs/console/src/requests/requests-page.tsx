import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import type { CallInput, ReplyAt } from '../api/routes.js';
import { isAdmin } from '../api/session.js';
import { choices, choose } from '../shell/navigation.js';
import { PeriodChoice, currentPeriod } from '../shell/period.js';
import { count, diem, duration, nanoOf, usdNine } from '../text/format.js';
import { DataTable } from '../ui/data-table.js';
import { Field, Select } from '../ui/fields.js';
import { useFurther } from '../ui/further.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Tabs } from '../ui/tabs.js';
import { Time } from '../ui/time.js';
import { Refusals } from './refusals.js';
import { RequestPanel } from './request-panel.js';

type Page = ReplyAt<'GET', '/api/v1/billing/requests'>;
export type RequestRow = Page['data'][number];

const PAGE_ROWS = 50;

/** The day after, because an end is exclusive. */
const nextDay = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString();

type RequestsQuery = NonNullable<CallInput<'GET', '/api/v1/billing/requests'>['query']>;

function currentQuery(): RequestsQuery {
  const { startDate, endDate } = currentPeriod();
  const search = choices.value;
  const requestId = search.get('id') ?? '';
  if (requestId !== '') return { requestId };
  return {
    startTimestamp: new Date(startDate).toISOString(),
    endTimestamp: nextDay(endDate),
    model: search.get('model') ?? undefined,
    apiKeyId: search.get('key') ?? undefined,
    limit: PAGE_ROWS,
  };
}

const load = (query: RequestsQuery, signal?: AbortSignal) =>
  call('GET', '/api/v1/billing/requests', { query, ...(signal && { signal }) });

/** The choices of what is listed. */
function Filters() {
  const keys = useResource(
    async (signal) => (isAdmin.value ? (await call('GET', '/api/v1/api_keys', { signal })).data : []),
    [],
  );
  const options = [
    ['', 'All keys'] as const,
    ['web', 'This console'] as const,
    ...(keys.value ?? []).map(
      ({ id, description, last6Chars }) => [id, `${description} ···${last6Chars}`] as const,
    ),
  ];
  return (
    <div class="filters">
      <PeriodChoice />
      {isAdmin.value && (
        <Select
          label="Key"
          value={choices.value.get('key') ?? ''}
          options={options}
          onChange={(key) => choose({ key })}
        />
      )}
      <Field label="Model">
        <input
          type="search"
          value={choices.value.get('model') ?? ''}
          placeholder="Whole id"
          onChange={(event) => choose({ model: event.currentTarget.value.trim() })}
        />
      </Field>
      <Field label="Request id">
        <input
          type="search"
          value={choices.value.get('id') ?? ''}
          placeholder="chatcmpl-…"
          onChange={(event) => choose({ id: event.currentTarget.value.trim() })}
        />
      </Field>
    </div>
  );
}

interface RowsProps {
  readonly rows: readonly RequestRow[];
  readonly onOpen: (row: RequestRow) => void;
}

const RequestTable = ({ rows, onOpen }: RowsProps) => (
  <DataTable
    caption="Requests, newest first"
    rows={rows}
    keyOf={({ requestId }) => requestId}
    columns={[
      {
        title: 'Time (UTC)',
        cell: (row) => (
          <button type="button" class="link" onClick={() => onOpen(row)}>
            <Time at={row.timestamp} form="second" />
          </button>
        ),
        sortBy: ({ timestamp }) => timestamp,
      },
      { title: 'Model', cell: ({ modelName }) => modelName, sortBy: ({ modelName }) => modelName },
      { title: 'Key', cell: ({ description }) => description, sortBy: ({ description }) => description },
      {
        title: 'Input',
        cell: ({ promptTokens }) => (promptTokens === null ? '—' : count(promptTokens)),
        sortBy: ({ promptTokens }) => promptTokens ?? -1,
        isNumeric: true,
      },
      {
        title: 'Output',
        cell: ({ completionTokens }) => (completionTokens === null ? '—' : count(completionTokens)),
        sortBy: ({ completionTokens }) => completionTokens ?? -1,
        isNumeric: true,
      },
      {
        title: 'Duration',
        cell: ({ durationMs: ms }) => duration(ms),
        sortBy: ({ durationMs: ms }) => ms,
        isNumeric: true,
      },
      {
        title: 'Cost',
        cell: (row) => (
          <>
            {usdNine(row.usd)}
            {row.diem > 0 && ` + ${diem(row.diem)}`}
          </>
        ),
        sortBy: (row) => nanoOf(row.usd) + nanoOf(row.diem),
        isNumeric: true,
      },
    ]}
  />
);

function Served() {
  const [open, setOpen] = useState<RequestRow>();
  const query = currentQuery();
  const first = useResource((signal) => load(query, signal), [JSON.stringify(query)]);
  const { rows, button } = useFurther(first.value, (cursor) => load({ ...query, cursor }));
  return (
    <div class="stack">
      <Filters />
      <section class="card" aria-label="Requests">
        <Loaded resource={first} rows={10}>
          {() =>
            rows.length === 0 ? (
              <Empty title="No requests">
                <span>No charged request has these properties. Prompts and completions are not stored.</span>
              </Empty>
            ) : (
              <RequestTable rows={rows} onOpen={setOpen} />
            )
          }
        </Loaded>
        {button}
      </section>
      {open && <RequestPanel row={open} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

/** The requests of the account, and those that a limit refused. */
export const RequestsPage = () => (
  <Tabs
    label="Requests"
    tabs={[
      { title: 'Charged', content: () => <Served /> },
      { title: 'Refused by a limit', content: () => <Refusals /> },
    ]}
  />
);
