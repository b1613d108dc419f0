import type { ReplyAt } from '../api/routes.js';
import { amountsText } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { addressOfPage, choices, choose } from '../shell/navigation.js';
import { PeriodChoice, currentPeriod } from '../shell/period.js';
import { count } from '../text/format.js';
import { DataTable } from '../ui/data-table.js';
import { Select } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';

type Spender = ReplyAt<'GET', '/operator/v1/spenders'>['data'][number];

const MEASURES = [
  ['cost', 'Cost'],
  ['tokens', 'Tokens'],
  ['requests', 'Requests'],
  ['refusals', 'Refusals'],
] as const;

const counted = (value: number | null): string => (value === null ? 'too many to count' : count(value));

const SpenderTable = ({ rows }: { readonly rows: readonly Spender[] }) => (
  <DataTable
    caption="The accounts with the most"
    rows={rows}
    keyOf={({ accountId }) => accountId}
    columns={[
      {
        title: 'Account',
        cell: ({ accountId, name }) => <a href={addressOfPage('', { id: accountId })}>{name ?? accountId}</a>,
      },
      { title: 'Requests', cell: ({ requests }) => counted(requests), isNumeric: true },
      { title: 'Refusals', cell: ({ refusals }) => counted(refusals), isNumeric: true },
      { title: 'Tokens', cell: ({ tokens }) => count(tokens), isNumeric: true },
      { title: 'Charged', cell: ({ charged }) => amountsText(charged), isNumeric: true },
      { title: 'Refunded', cell: ({ refunded }) => amountsText(refunded), isNumeric: true },
    ]}
  />
);

/** The accounts with the most cost, tokens, requests or refusals in a period. */
export function Spenders() {
  const { startDate: from, endDate: until } = currentPeriod();
  const by = MEASURES.find(([name]) => name === choices.value.get('by'))?.[0] ?? 'cost';
  const spenders = useResource(
    (signal) => ask('GET', '/operator/v1/spenders', { query: { from, until, by }, signal }),
    [from, until, by],
  );
  return (
    <div class="stack">
      <div class="filters">
        <PeriodChoice />
        <Select
          label="Most"
          value={by}
          options={MEASURES}
          onChange={(name) => choose({ by: name === 'cost' ? '' : name })}
        />
      </div>
      <section class="card" aria-label="Who spends most">
        <Loaded resource={spenders} rows={6}>
          {({ data }) => (data.length === 0 ? <Empty title="Nobody" /> : <SpenderTable rows={data} />)}
        </Loaded>
      </section>
    </div>
  );
}
