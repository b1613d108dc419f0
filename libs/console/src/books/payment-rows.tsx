import { useState } from 'preact/hooks';
import type { ReplyAt } from '../api/routes.js';
import { usdOf } from '../desk/money-text.js';
import { ask, may } from '../desk/operator.js';
import { useFurther } from '../ui/further.js';
import { addressOfPage } from '../shell/navigation.js';
import { announce } from '../ui/announce.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Empty, ErrorNote, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { PaymentDecision } from './payment-decision.js';

export type ShownPayment = ReplyAt<'GET', '/operator/v1/payments'>['data'][number];

const PAGE_ROWS = 50;

interface ActionsProps {
  readonly payment: ShownPayment;
  readonly onRetry: (payment: ShownPayment) => void;
  readonly onDecide: (payment: ShownPayment) => void;
}

/** A payment that is credited stays so. */
const Actions = ({ payment, onRetry, onDecide }: ActionsProps) =>
  payment.state === 'CREDITED' || !may('money') ? null : (
    <span class="row end">
      <button type="button" class="small" onClick={() => onRetry(payment)}>
        Retry<span class="sr"> {payment.id}</span>
      </button>
      <button type="button" class="small" onClick={() => onDecide(payment)}>
        Decide<span class="sr"> {payment.id}</span>
      </button>
    </span>
  );

const PaymentTable = ({
  rows,
  ...actions
}: Omit<ActionsProps, 'payment'> & { readonly rows: readonly ShownPayment[] }) => (
  <DataTable
    caption="Payments, newest first"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      { title: 'Time (UTC)', cell: ({ createdAt }) => <Time at={createdAt} /> },
      {
        title: 'Payment',
        cell: ({ id, rail, accountId, wallet }) => (
          <span>
            <span class="mono">{id}</span>
            <br />
            <small>
              {rail}, by <a href={addressOfPage('', { id: accountId })}>{wallet}</a>
            </small>
          </span>
        ),
      },
      {
        title: 'State',
        cell: ({ state, reason, lastError }) => (
          <span>
            {state}
            {(reason ?? lastError) !== null && (
              <>
                <br />
                <small>{reason ?? lastError}</small>
              </>
            )}
          </span>
        ),
      },
      { title: 'Amount', cell: ({ usd }) => usdOf(usd), isNumeric: true },
      { title: 'Action', cell: (payment) => <Actions payment={payment} {...actions} /> },
    ]}
  />
);

interface PaymentRowsProps {
  readonly onChange: () => void;
}

/** The payments of wallets, newest first. */
export function PaymentRows({ onChange }: PaymentRowsProps) {
  const [error, setError] = useState<Error>();
  const [decided, setDecided] = useState<ShownPayment>();
  const load = (before?: string, signal?: AbortSignal) =>
    ask('GET', '/operator/v1/payments', {
      query: { limit: PAGE_ROWS, before },
      ...(signal && { signal }),
    });
  const first = useResource((signal) => load(undefined, signal), []);
  const { rows, button } = useFurther(first.value, load);
  const changed = () => {
    first.reload();
    onChange();
  };
  const retry = async ({ id }: ShownPayment) => {
    try {
      const { state } = await ask('POST', '/operator/v1/payments/:id/retry', { params: { id } });
      announce(`The payment is ${state}`);
      setError(undefined);
      changed();
    } catch (cause) {
      setError(cause as Error);
    }
  };
  return (
    <section class="card stack" aria-label="Payments">
      <h2>Payments</h2>
      {error && <ErrorNote error={error} />}
      <Loaded resource={first} rows={4}>
        {() =>
          rows.length === 0 ? (
            <Empty title="No payments" />
          ) : (
            <PaymentTable rows={rows} onRetry={(payment) => void retry(payment)} onDecide={setDecided} />
          )
        }
      </Loaded>
      {button}
      {decided && (
        <PaymentDecision payment={decided} onClose={() => setDecided(undefined)} onDone={changed} />
      )}
    </section>
  );
}
