import { call } from '../api/client.js';
import { isAdmin } from '../api/session.js';
import type { ReplyAt } from '../api/routes.js';
import { addressOfPage } from '../shell/navigation.js';
import { diem, nanoOf, usd, utcMinute } from '../text/format.js';
import { curlOf } from '../text/snippets.js';
import { Bars } from '../ui/bars.js';
import { Code } from '../ui/copy.js';
import { DataTable } from '../ui/data-table.js';
import { type Resource, useResource } from '../ui/resource.js';
import { Empty, Loaded, Skeleton } from '../ui/states.js';

type Analytics = ReplyAt<'GET', '/api/v1/billing/usage-analytics'>;
type Limits = ReplyAt<'GET', '/api/v1/api_keys/rate_limits'>['data'];

const DAYS = 30;

/** What was spent on the last days up to today, in both currencies. */
function spentOn({ byDate }: Analytics, days: number): string {
  const last = byDate.slice(-days);
  const usdNano = last.reduce((total, { USD }) => total + nanoOf(USD), 0n);
  const diemNano = last.reduce((total, { DIEM }) => total + nanoOf(DIEM), 0n);
  return diemNano === 0n ? usd(usdNano) : `${usd(usdNano)} + ${diem(diemNano)}`;
}

interface TileProps {
  readonly title: string;
  readonly value: string | undefined;
  readonly hint: string;
}

const Tile = ({ title, value, hint }: TileProps) => (
  <dl class="card tile">
    <dt>{title}</dt>
    <dd>{value ?? <Skeleton rows={1} />}</dd>
    <dd class="hint">{hint}</dd>
  </dl>
);

/** The balance and what ends the spending first. */
function BalanceNote({ limits }: { readonly limits: Limits }) {
  if (limits.balances.USD <= 0 && limits.balances.DIEM <= 0)
    return (
      <p class="note danger">
        Nothing can be spent: the balance, or the limit of this key, is used up. Requests are refused with a
        402 until credit is added.
      </p>
    );
  if (!limits.accessPermitted) return <p class="note danger">This account may not make requests.</p>;
  return null;
}

interface TilesProps {
  readonly limits: Resource<Limits>;
  readonly analytics: Resource<Analytics>;
}

/** What a resource says, or a dash if it could not be loaded. */
const textOf = <T,>({ value, error }: Resource<T>, text: (value: T) => string): string | undefined =>
  value === undefined ? error && '—' : text(value);

const Tiles = ({ limits, analytics }: TilesProps) => (
  <div class="tiles">
    <Tile
      title={isAdmin.value ? 'Balance' : 'This key can spend'}
      value={textOf(limits, ({ balances }) => usd(balances.USD))}
      hint={textOf(limits, ({ balances }) => `and ${diem(balances.DIEM)}`) ?? ' '}
    />
    <Tile
      title="Spent today"
      value={textOf(analytics, (value) => spentOn(value, 1))}
      hint={
        textOf(limits, ({ nextEpochBegins: next }) => `A new day begins at ${utcMinute(next)} UTC`) ?? ' '
      }
    />
    {[7, DAYS].map((days) => (
      <Tile
        key={days}
        title={`Spent in ${days} days`}
        value={textOf(analytics, (value) => spentOn(value, days))}
        hint="UTC days, with today"
      />
    ))}
  </div>
);

function Spending({ analytics }: { readonly analytics: Analytics }) {
  const days = analytics.byDate.map(({ date }) => date);
  if (analytics.topModels.length === 0)
    return (
      <Empty title="No usage yet">
        <span>
          Try the <a href={addressOfPage('playground')}>playground</a>, or send the request below.
        </span>
      </Empty>
    );
  const series = analytics.topModels.map((name) => ({
    name,
    values: analytics.byModelDaily.map((day) => day[name] ?? 0),
  }));
  return (
    <>
      <Bars
        summary={`Spending on each of the last ${DAYS} days by model; ${spentOn(analytics, DAYS)} in all`}
        labels={days}
        series={series}
        format={(value) => usd(BigInt(Math.round(value * 1e9)))}
      />
      <details>
        <summary>As a table</summary>
        <DataTable
          caption="Spending by day"
          rows={analytics.byDate.toReversed()}
          keyOf={({ date }) => date}
          columns={[
            { title: 'Day', cell: ({ date }) => date, sortBy: ({ date }) => date },
            { title: 'USD', cell: ({ USD }) => usd(USD), sortBy: ({ USD }) => USD, isNumeric: true },
            { title: 'DIEM', cell: ({ DIEM }) => diem(DIEM), sortBy: ({ DIEM }) => DIEM, isNumeric: true },
          ]}
        />
      </details>
    </>
  );
}

/** What the account has, spends and can do next. */
export function OverviewPage() {
  const limits = useResource(
    async (signal) => (await call('GET', '/api/v1/api_keys/rate_limits', { signal })).data,
    [],
  );
  const analytics = useResource(
    (signal) => call('GET', '/api/v1/billing/usage-analytics', { query: { lookback: `${DAYS}d` }, signal }),
    [],
  );
  const model = limits.value?.rateLimits[0]?.apiModelId ?? 'llama-3.2-3b';
  return (
    <>
      {limits.value && <BalanceNote limits={limits.value} />}
      <Tiles limits={limits} analytics={analytics} />
      <section class="card" aria-labelledby="spending">
        <h2 id="spending">Spending by model, last {DAYS} days</h2>
        <Loaded resource={analytics} rows={9}>
          {(value) => <Spending analytics={value} />}
        </Loaded>
      </section>
      <section class="card" aria-labelledby="first">
        <h2 id="first">Call the API</h2>
        <Code
          label="A request with curl"
          text={curlOf({
            apiKey: '$SVC_API_KEY',
            body: { model, messages: [{ role: 'user', content: 'Hello' }] },
          })}
        />
      </section>
    </>
  );
}
