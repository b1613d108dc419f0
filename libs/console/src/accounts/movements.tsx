import { useState } from 'preact/hooks';
import type { ReplyAt } from '../api/routes.js';
import { DeskForm } from '../desk/desk-form.js';
import { amountText } from '../desk/money-text.js';
import { ask, may } from '../desk/operator.js';
import { useFurther } from '../ui/further.js';
import { ReasonField } from '../desk/text-field.js';
import { addressOfPage } from '../shell/navigation.js';
import { textIn } from '../text/form-text.js';
import { announce } from '../ui/announce.js';
import { DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

type Movement = ReplyAt<'GET', '/operator/v1/accounts/:id/transfers'>['data'][number];

const PAGE_ROWS = 50;

/** The kinds whose reference is the id of a request. */
const OF_REQUESTS: ReadonlySet<string> = new Set(['charge', 'write_off']);

interface UndoProps {
  readonly accountId: string;
  readonly credit: Movement;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const Undo = ({ accountId, credit: { amount, reference }, onClose, onDone }: UndoProps) => (
  <Dialog title={`Undo the credit “${reference}”`} onClose={onClose}>
    <p>
      All of it is taken back, once. What the account has spent of it becomes a debt, which its next credits
      repay first.
    </p>
    <DeskForm
      action="Undo"
      isDanger
      question={() => `Take the credit of ${amountText('USD', amount)} back?`}
      onSubmit={async (data) => {
        const body = { reference, reason: textIn(data, 'reason') };
        await ask('POST', '/operator/v1/accounts/:id/credit_reversals', { params: { id: accountId }, body });
        announce('The credit is undone');
        onClose();
        onDone();
      }}
    >
      {(faults) => <ReasonField problem={faults.get('reason')} autofocus />}
    </DeskForm>
  </Dialog>
);

interface TableProps {
  readonly accountId: string;
  readonly rows: readonly Movement[];
  readonly onUndo: (credit: Movement) => void;
}

function MovementTable({ accountId, rows, onUndo }: TableProps) {
  const undone = new Set(
    rows.flatMap(({ kind, reference }) => (kind === 'credit_reversal' ? [reference] : [])),
  );
  return (
    <DataTable
      caption="Movements of money, newest first"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Time (UTC)', cell: ({ at }) => <Time at={at} form="second" /> },
        { title: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
        {
          title: 'Reference',
          cell: ({ kind, reference }) =>
            OF_REQUESTS.has(kind) ? (
              <a class="mono" href={addressOfPage('requests', { id: reference })}>
                {reference}
              </a>
            ) : (
              <span class="mono">{reference}</span>
            ),
        },
        {
          title: 'Amount',
          cell: ({ creditAccount, currency, amount }) =>
            `${creditAccount === `customer:${accountId}` ? '+' : '−'} ${amountText(currency, amount)}`,
          isNumeric: true,
        },
        {
          title: 'Action',
          cell: (row) =>
            row.kind !== 'credit' ? null : undone.has(row.reference) ? (
              <span class="badge">undone</span>
            ) : (
              may('money') && (
                <button type="button" class="small" onClick={() => onUndo(row)}>
                  Undo<span class="sr"> the credit {row.reference}</span>
                </button>
              )
            ),
        },
      ]}
    />
  );
}

interface MovementsProps {
  readonly accountId: string;
  /** Changes when something was done with the account. */
  readonly changes: number;
  readonly onChange: () => void;
}

/** The movements of an account's money, whose credits can be undone. */
export function Movements({ accountId, changes, onChange }: MovementsProps) {
  const [credit, setCredit] = useState<Movement>();
  const load = (before?: string, signal?: AbortSignal) =>
    ask('GET', '/operator/v1/accounts/:id/transfers', {
      params: { id: accountId },
      query: { limit: PAGE_ROWS, before },
      ...(signal && { signal }),
    });
  const first = useResource((signal) => load(undefined, signal), [accountId, changes]);
  const { rows, button } = useFurther(first.value, load);
  return (
    <section class="card" aria-label="Movements">
      <Loaded resource={first} rows={5}>
        {() =>
          rows.length === 0 ? (
            <Empty title="No movements">
              <span>Nothing was credited or charged yet.</span>
            </Empty>
          ) : (
            <MovementTable accountId={accountId} rows={rows} onUndo={setCredit} />
          )
        }
      </Loaded>
      {button}
      {credit && (
        <Undo accountId={accountId} credit={credit} onClose={() => setCredit(undefined)} onDone={onChange} />
      )}
    </section>
  );
}
