import { call } from '../api/client.js';
import type { ReplyAt } from '../api/routes.js';
import { count, diem, usd } from '../text/format.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

type Limits = ReplyAt<'GET', '/api/v1/api_keys/rate_limits'>['data'];
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

function Models({ limits }: { readonly limits: Limits }) {
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
          sortBy: (model: Limits['rateLimits'][number]) => amountOf(model, type) ?? Infinity,
          cell: (model: Limits['rateLimits'][number]) => {
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

/** The limits that hold for whoever is signed in. */
export function LimitsPage() {
  const limits = useResource(
    async (signal) => (await call('GET', '/api/v1/api_keys/rate_limits', { signal })).data,
    [],
  );
  return (
    <Loaded resource={limits} rows={10}>
      {(value) => (
        <div class="stack">
          <section class="card" aria-label="This account">
            <Summary limits={value} />
          </section>
          <section class="card" aria-labelledby="by-model">
            <h2 id="by-model">By model</h2>
            <p class="hint">
              For the whole account, whichever key makes the requests. Minutes begin at full minutes; each
              response says what is left of its minute in <code>x-ratelimit-remaining-requests</code> and{' '}
              <code>-tokens</code>.
            </p>
            <Models limits={value} />
          </section>
        </div>
      )}
    </Loaded>
  );
}
