import type { ReplyAt } from '../api/routes.js';
import { amountsText } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { addressOfPage } from '../shell/navigation.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

type OpenHold = ReplyAt<'GET', '/operator/v1/accounts/:id/holds'>['data'][number];

interface HoldTableProps {
  readonly accountId: string;
  readonly rows: readonly OpenHold[];
}

const HoldTable = ({ accountId, rows }: HoldTableProps) => (
  <DataTable
    caption="Requests under way, the latest renewed first"
    rows={rows}
    keyOf={({ requestId }) => requestId}
    columns={[
      {
        title: 'Request',
        cell: ({ requestId }) => (
          <a class="mono" href={addressOfPage('requests', { id: requestId, account: accountId })}>
            {requestId}
          </a>
        ),
      },
      { title: 'Key', cell: ({ keyId }) => <span class="mono">{keyId}</span> },
      { title: 'Held until (UTC)', cell: ({ until }) => <Time at={until} form="second" /> },
      { title: 'Held', cell: ({ amount }) => amountsText(amount), isNumeric: true },
    ]}
  />
);

interface OpenHoldsProps {
  readonly accountId: string;
  /** Changes when something was done with the account. */
  readonly changes: number;
}

/** What the requests of an account hold that are under way. */
export function OpenHolds({ accountId, changes }: OpenHoldsProps) {
  const holds = useResource(
    (signal) => ask('GET', '/operator/v1/accounts/:id/holds', { params: { id: accountId }, signal }),
    [accountId, changes],
  );
  return (
    <section class="card stack" aria-label="Requests under way">
      <div class="row spread">
        <p class="muted">What a request may cost is held until it ends. A stream extends its hold.</p>
        <button type="button" onClick={holds.reload}>
          Look again
        </button>
      </div>
      <Loaded resource={holds} rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing is held">
              <span>No request of this account is under way.</span>
            </Empty>
          ) : (
            <HoldTable accountId={accountId} rows={data} />
          )
        }
      </Loaded>
    </section>
  );
}
