import { CallError } from '../api/call-error.js';
import type { ReplyAt } from '../api/routes.js';
import { usdOf } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { count } from '../text/format.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { AuditForm } from './audit-form.js';
import { PaymentRows } from './payment-rows.js';

type Totals = ReplyAt<'GET', '/operator/v1/payments/totals'>['data'];
type Report = ReplyAt<'GET', '/operator/v1/payments/audit'>;

const HOUR_SECONDS = 3_600;

const ageOf = (seconds: number): string =>
  seconds < HOUR_SECONDS ? `${Math.ceil(seconds / 60)} min` : `${Math.floor(seconds / HOUR_SECONDS)} h`;

const TotalsTable = ({ rows }: { readonly rows: Totals }) => (
  <DataTable
    caption="Payments by rail and state"
    rows={rows}
    keyOf={({ rail, state }) => `${rail} ${state}`}
    columns={[
      { title: 'Rail', cell: ({ rail }) => rail },
      { title: 'State', cell: ({ state }) => state },
      { title: 'Payments', cell: ({ payments }) => count(payments), isNumeric: true },
      { title: 'Sum', cell: ({ usd }) => usdOf(usd), isNumeric: true },
      { title: 'Oldest', cell: ({ oldestSeconds }) => ageOf(oldestSeconds), isNumeric: true },
    ]}
  />
);

const Rails = ({ rails }: Pick<Report, 'rails'>) => (
  <DataTable
    caption="Audited rails"
    rows={rails}
    keyOf={({ rail }) => rail}
    columns={[
      { title: 'Rail', cell: ({ rail }) => rail },
      { title: 'Blocks', cell: ({ fromBlock, toBlock }) => `${fromBlock} to ${toBlock}`, isNumeric: true },
      { title: 'Payments', cell: ({ payments }) => count(payments), isNumeric: true },
      { title: 'Credited', cell: ({ creditedUsd }) => usdOf(creditedUsd), isNumeric: true },
      { title: 'On chain', cell: ({ onChainUsd }) => usdOf(onChainUsd), isNumeric: true },
      { title: 'In the books', cell: ({ booksUsd }) => usdOf(booksUsd), isNumeric: true },
      { title: 'Unclaimed', cell: ({ unclaimedUsd }) => usdOf(unclaimedUsd), isNumeric: true },
    ]}
  />
);

/** The sums of payments; null if the service takes none. */
async function totals(signal: AbortSignal): Promise<Totals | null> {
  try {
    return (await ask('GET', '/operator/v1/payments/totals', { signal })).data;
  } catch (error) {
    if (error instanceof CallError && error.code === 'X402_NOT_CONFIGURED') return null;
    throw error;
  }
}

/** The payments of wallets, their sums and their audit. */
export function Payments() {
  const sums = useResource(totals, []);
  return (
    <Loaded resource={sums} rows={5}>
      {(rows) =>
        rows === null ? (
          <Empty title="No payments">
            <span>This service takes none: no rail is configured.</span>
          </Empty>
        ) : (
          <div class="stack">
            <section class="card stack" aria-label="Sums">
              <h2>Sums</h2>
              {rows.length === 0 ? <p>Nobody has paid yet.</p> : <TotalsTable rows={rows} />}
            </section>
            <AuditForm
              label="The payments"
              run={(scope) => ask('GET', '/operator/v1/payments/audit', { query: { scope } })}
            >
              {({ rails, unclaimed }) => (
                <>
                  <Rails rails={rails} />
                  {unclaimed.length > 0 && (
                    <ul class="lines">
                      {unclaimed.map((transfer) => (
                        <li key={transfer}>{transfer}</li>
                      ))}
                    </ul>
                  )}
                </>
              )}
            </AuditForm>
            <PaymentRows onChange={sums.reload} />
          </div>
        )
      }
    </Loaded>
  );
}
