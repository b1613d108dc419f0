import type { WalletTransaction } from '@svc/api/wallets';
import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import { session } from '../api/session.js';
import { addressOfPage } from '../shell/navigation.js';
import { diem, usd, usdNine } from '../text/format.js';
import { Copyable } from '../ui/copy.js';
import { DataTable } from '../ui/data-table.js';
import { type Resource, useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { TopUpForm } from './top-up-form.js';

const TYPES = { TOP_UP: 'Top-up', CHARGE: 'Charge', REFUND: 'Refund' } as const;
const MOST_TRANSACTIONS = 100;

/** What a charge was for, as a link to its request. */
const Origin = ({ requestId, modelId, id }: WalletTransaction) =>
  requestId === null ? (
    <span class="mono">{id}</span>
  ) : (
    <a href={addressOfPage('requests', { id: requestId })}>{modelId ?? 'Request'}</a>
  );

interface HistoryProps {
  readonly history: Resource<readonly WalletTransaction[]>;
}

const History = ({ history }: HistoryProps) => (
  <section class="card" aria-labelledby="history">
    <h2 id="history">The last {MOST_TRANSACTIONS} movements</h2>
    <Loaded resource={history} rows={6}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty title="Nothing yet">
            <span>Top-ups, charges and refunds appear here.</span>
          </Empty>
        ) : (
          <DataTable
            caption="Top-ups, charges and refunds, newest first"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Time (UTC)', cell: ({ createdAt }) => <Time at={createdAt} form="second" /> },
              { title: 'Kind', cell: ({ type }) => TYPES[type], sortBy: ({ type }) => type },
              { title: 'For', cell: Origin },
              {
                title: 'Amount',
                cell: ({ amount }) => usdNine(amount),
                sortBy: ({ amount }) => amount,
                isNumeric: true,
              },
              { title: 'Balance after', cell: ({ balanceAfter }) => usdNine(balanceAfter), isNumeric: true },
            ]}
          />
        )
      }
    </Loaded>
  </section>
);

/** The movements of a wallet's account. Those of others are in the usage, and their operator has the rest. */
function WalletHistory({ wallet, round }: { readonly wallet: string; readonly round: number }) {
  const history = useResource(
    async (signal) => {
      const reply = await call('GET', '/api/v1/x402/transactions/:walletAddress', {
        params: { walletAddress: wallet },
        query: { limit: MOST_TRANSACTIONS },
        signal,
      });
      return reply.data.transactions;
    },
    [wallet, round],
  );
  return <History history={history} />;
}

/** The balance, and how credit is added. */
export function CreditPage() {
  const [round, setRound] = useState(0);
  const balance = useResource(
    async (signal) => (await call('GET', '/api/v1/api_keys/rate_limits', { signal })).data,
    [round],
  );
  const wallet = session.value?.wallet ?? undefined;
  return (
    <>
      <section class="card" aria-labelledby="balance">
        <h2 id="balance">Balance</h2>
        <Loaded resource={balance} rows={2}>
          {({ balances, nextEpochBegins }) => (
            <dl class="facts">
              <dt>US dollars</dt>
              <dd>
                <strong>{usd(balances.USD)}</strong>, without an end
              </dd>
              <dt>DIEM</dt>
              <dd>
                <strong>{diem(balances.DIEM)}</strong>, until <Time at={nextEpochBegins} /> UTC, and spent
                first
              </dd>
            </dl>
          )}
        </Loaded>
      </section>
      <section class="card stack" aria-labelledby="add">
        <h2 id="add">Add credit</h2>
        <p>
          Pay in USDC with a wallet of this browser. The credit belongs to the account that is signed in,
          whichever wallet pays.
        </p>
        {wallet !== undefined && (
          <div>
            Your wallet: <Copyable text={wallet} label="Wallet address" />
          </div>
        )}
        <TopUpForm onPaid={() => setRound(round + 1)} />
      </section>
      {wallet !== undefined && <WalletHistory wallet={wallet} round={round} />}
    </>
  );
}
