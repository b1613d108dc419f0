import { formatUsd } from '@svc/contracts/money';
import { call } from '../api/client.js';
import { addressOfPage, choices, choose } from '../shell/navigation.js';
import { PeriodChoice, currentPeriod, daysOf } from '../shell/period.js';
import { csvOf, saveFile } from '../text/csv.js';
import { count, diem, shortCount, usd, usdNine } from '../text/format.js';
import { Bars } from '../ui/bars.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Segments } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import {
  type DailyRow,
  type Grouping,
  type Measure,
  type UsageGroup,
  groupsOf,
  seriesOf,
  sumOf,
} from './usage-rows.js';

const GROUPINGS = [
  ['model', 'By model'],
  ['key', 'By key'],
  ['day', 'By day'],
] as const;
const MEASURES = [
  ['cost', 'Cost'],
  ['tokens', 'Tokens'],
] as const;

/** A count, or a dash where nothing is counted in tokens. */
const tokens = (value: number | null): string => (value === null ? '—' : count(value));

const TOKEN_COLUMNS = [
  ['Input', 'inputTokens'],
  ['Output', 'outputTokens'],
  ['Cache read', 'cacheReadTokens'],
  ['Cache write', 'cacheWriteTokens'],
] as const;

function columnsOf(grouping: Grouping, total: UsageGroup): Column<UsageGroup>[] {
  const title = { model: 'Model', key: 'Key', day: 'Day' }[grouping];
  return [
    {
      title,
      sortBy: ({ name }) => name,
      cell: ({ name }) =>
        grouping === 'model' ? <a href={addressOfPage('requests', { model: name })}>{name}</a> : name,
      total: 'Total',
    },
    ...TOKEN_COLUMNS.map(([name, member]) => ({
      title: name,
      isNumeric: true,
      sortBy: (group: UsageGroup) => group[member] ?? -1,
      cell: (group: UsageGroup) => tokens(group[member]),
      total: tokens(total[member]),
    })),
    {
      title: 'USD',
      isNumeric: true,
      sortBy: ({ usdNano }) => usdNano,
      cell: ({ usdNano }) => usdNine(usdNano),
      total: usdNine(total.usdNano),
    },
    {
      title: 'DIEM',
      isNumeric: true,
      sortBy: ({ diemNano }) => diemNano,
      cell: ({ diemNano }) => diem(diemNano),
      total: diem(total.diemNano),
    },
  ];
}

/** The rows as they are: one for each key, model and day. */
const csvRows = (rows: readonly DailyRow[]): string[][] => [
  ['day', 'model', 'key', 'keyId', ...TOKEN_COLUMNS.map(([, member]) => member), 'usd', 'diem'],
  ...rows.map((row) => [
    row.date,
    row.modelName,
    row.description,
    row.apiKeyId ?? '',
    ...TOKEN_COLUMNS.map(([, member]) => (row[member] === null ? '' : String(row[member]))),
    formatUsd(sumOf('', [row]).usdNano),
    formatUsd(sumOf('', [row]).diemNano),
  ]),
];

interface ChartProps {
  readonly rows: readonly DailyRow[];
  readonly grouping: Grouping;
  readonly measure: Measure;
}

function Chart({ rows, grouping, measure }: ChartProps) {
  const days = daysOf(currentPeriod());
  const isCost = measure === 'cost';
  return (
    <Bars
      summary={`${isCost ? 'Cost' : 'Tokens'} of each day; the table below has the numbers`}
      labels={days}
      series={seriesOf(rows, { days, grouping: grouping === 'key' ? 'key' : 'model', measure })}
      format={(value) => (isCost ? usd(BigInt(Math.round(value * 1e9))) : shortCount(value))}
    />
  );
}

/** What was used by day, model and key. */
export function UsagePage() {
  const { startDate, endDate } = currentPeriod();
  const grouping = GROUPINGS.find(([name]) => name === choices.value.get('by'))?.[0] ?? 'model';
  const measure = MEASURES.find(([name]) => name === choices.value.get('show'))?.[0] ?? 'cost';
  const usage = useResource(
    async (signal) =>
      (await call('GET', '/api/v1/billing/usage-analytics/daily', { query: { startDate, endDate }, signal }))
        .data,
    [startDate, endDate],
  );
  return (
    <>
      <div class="filters">
        <PeriodChoice />
        <Segments label="Groups" value={grouping} options={GROUPINGS} onChange={(by) => choose({ by })} />
        <Segments label="Bars" value={measure} options={MEASURES} onChange={(show) => choose({ show })} />
        <button
          type="button"
          disabled={!usage.value || usage.value.length === 0}
          onClick={() => saveFile(`usage-${startDate}-${endDate}.csv`, csvOf(csvRows(usage.value ?? [])))}
        >
          Save as CSV
        </button>
      </div>
      <Loaded resource={usage} rows={12}>
        {(rows) =>
          rows.length === 0 ? (
            <div class="card">
              <Empty title="No usage in this period">
                <span>
                  Choose another one, or try the <a href={addressOfPage('playground')}>playground</a>.
                </span>
              </Empty>
            </div>
          ) : (
            <div class="stack">
              <section class="card" aria-label="Chart">
                <Chart rows={rows} grouping={grouping} measure={measure} />
              </section>
              <section class="card" aria-label="Table">
                <DataTable
                  caption={`Usage ${startDate} to ${endDate}, UTC days`}
                  columns={columnsOf(grouping, sumOf('Total', rows))}
                  rows={groupsOf(rows, grouping)}
                  keyOf={({ name }) => name}
                />
              </section>
            </div>
          )
        }
      </Loaded>
    </>
  );
}
