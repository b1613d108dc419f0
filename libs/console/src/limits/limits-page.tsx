import { useEffect } from 'preact/hooks';
import { call } from '../api/client.js';
import type { ReplyAt } from '../api/routes.js';
import { count, diem, usd } from '../text/format.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

type Limits = ReplyAt<'GET', '/api/v1/api_keys/rate_limits'>['data'];
type Use = ReplyAt<'GET', '/api/v1/api_keys/rate_limits/usage'>['data'];
type Used = Use['models'][number]['rateLimits'][number];
type LimitType = Limits['rateLimits'][number]['rateLimits'][number]['type'];

const NAMES: Readonly<Record<LimitType, string>> = {
  RPM: 'Requests per minute',
  RPD: 'Requests per day',
  TPM: 'Tokens per minute',
  TPD: 'Tokens per day',
  CPM: 'Credits per minute',
  CPD: 'Credits per day',
};

/** The limits of a model by type; a type that it does not have is not limited. */
const amountOf = ({ rateLimits }: Limits['rateLimits'][number], type: LimitType): number | undefined =>
  rateLimits.find((limit) => limit.type === type)?.amount;

const usedOf = (use: Use | undefined, modelId: string, type: LimitType): Used | undefined =>
  use?.models
    .find(({ apiModelId }) => apiModelId === modelId)
    ?.rateLimits.find((limit) => limit.type === type);

const partOf = ({ used, amount }: Used): number => (amount === 0 ? 1 : Math.min(1, used / amount));

function UsedView({ limit }: { readonly limit: Used }) {
  const part = partOf(limit);
  const text = `${count(limit.used)} of ${count(limit.amount)}`;
  return (
    <span>
      {text}
      <progress
        class={part >= 1 ? 'meter full' : 'meter'}
        value={part}
        aria-label={`${NAMES[limit.type]}: ${text}`}
      />
    </span>
  );
}

interface ModelsProps {
  readonly limits: Limits;
  /** What is used now; undefined while that is not known. */
  readonly use: Use | undefined;
}

function Models({ limits, use }: ModelsProps) {
  const present = (['RPM', 'TPM', 'RPD', 'TPD', 'CPM', 'CPD'] as const).filter((type) =>
    limits.rateLimits.some((model) => amountOf(model, type) !== undefined),
  );
  if (limits.rateLimits.length === 0)
    return (
      <Empty title="No limits">
        <span>No model of this service limits requests.</span>
      </Empty>
    );
  return (
    <DataTable
      caption="Limits by model"
      rows={limits.rateLimits}
      keyOf={({ apiModelId }) => apiModelId}
      columns={[
        { title: 'Model', cell: ({ apiModelId }) => apiModelId, sortBy: ({ apiModelId }) => apiModelId },
        ...present.map((type) => ({
          title: NAMES[type],
          isNumeric: true,
          sortBy: (model: Limits['rateLimits'][number]) => {
            const used = usedOf(use, model.apiModelId, type);
            return used ? partOf(used) : (amountOf(model, type) ?? -1);
          },
          cell: (model: Limits['rateLimits'][number]) => {
            const used = usedOf(use, model.apiModelId, type);
            if (used) return <UsedView limit={used} />;
            const amount = amountOf(model, type);
            return amount === undefined ? '—' : count(amount);
          },
        })),
      ]}
    />
  );
}

const Summary = ({ limits }: { readonly limits: Limits }) => (
  <dl class="facts">
    <dt>Tier</dt>
    <dd>{limits.apiTier.id}</dd>
    <dt>Can be spent</dt>
    <dd>
      {usd(limits.balances.USD)} and {diem(limits.balances.DIEM)}
    </dd>
    <dt>Daily reset</dt>
    <dd>
      <Time at={limits.nextEpochBegins} form="relative" />, at <Time at={limits.nextEpochBegins} /> UTC
    </dd>
    <dt>The key ends</dt>
    <dd>{limits.keyExpiration ? <Time at={limits.keyExpiration} /> : 'never'}</dd>
  </dl>
);

const REFRESH_MS = 5_000;

const UNKNOWN: Use = { counted: false, models: [] };

/** What is used now, read again every few seconds while the page is seen. */
function useUse(): Use | undefined {
  const use = useResource(
    (signal) =>
      call('GET', '/api/v1/api_keys/rate_limits/usage', { signal }).then(
        ({ data }) => data,
        () => UNKNOWN,
      ),
    [],
  );
  useEffect(() => {
    const timer = setInterval(() => document.hidden || use.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return use.value;
}

function UseNote({ use }: { readonly use: Use | undefined }) {
  const ends = use?.models.flatMap(({ rateLimits }) => rateLimits.map(({ resetsAt }) => resetsAt)) ?? [];
  const [next] = ends.toSorted();
  if (use?.counted === false)
    return (
      <p class="note warn" role="status">
        What is used now is not known, because the count of requests cannot be reached. The limits hold.
      </p>
    );
  if (next === undefined)
    return <p class="hint">{use ? 'Nothing is counted.' : 'Reading what is used now…'}</p>;
  return (
    <p class="hint">
      Counts begin again at <Time at={next} form="second" /> UTC, those per day at midnight. A running request
      counts with what it may take.
    </p>
  );
}

/** The limits that hold for whoever is signed in. */
export function LimitsPage() {
  const limits = useResource(
    async (signal) => (await call('GET', '/api/v1/api_keys/rate_limits', { signal })).data,
    [],
  );
  const use = useUse();
  return (
    <Loaded resource={limits} rows={10}>
      {(value) => (
        <div class="stack">
          <section class="card" aria-label="This account">
            <Summary limits={value} />
          </section>
          <section class="card stack" aria-labelledby="by-model">
            <h2 id="by-model">By model</h2>
            <p class="hint">
              For the whole account, whichever key makes the requests, unless the key that signed in has a
              tighter limit of its own. Minutes begin at full minutes; each response says what is left of its
              minute in <code>x-ratelimit-remaining-requests</code> and <code>-tokens</code>.
            </p>
            <UseNote use={use} />
            <Models limits={value} use={use?.counted === true ? use : undefined} />
          </section>
        </div>
      )}
    </Loaded>
  );
}
