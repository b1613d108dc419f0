import { textIn } from '../text/form-text.js';
import { DeskForm } from './desk-form.js';
import { amountText } from './money-text.js';
import { ask } from './operator.js';
import { ReasonField, ReferenceField, TextField } from './text-field.js';

interface RefundProps {
  readonly accountId: string;
  /** The request, if it is known. */
  readonly requestId?: string;
  readonly onDone: (text: string) => void;
}

/** The amounts that are filled in. */
const partsIn = (data: FormData): { usd?: string; diem?: string } => {
  const [usd, diem] = [textIn(data, 'usd'), textIn(data, 'diem')];
  return { ...(usd !== '' && { usd }), ...(diem !== '' && { diem }) };
};

const textOf = ({ usd, diem }: ReturnType<typeof partsIn>): string =>
  [usd && amountText('USD', usd), diem && amountText('DIEM', diem)].filter(Boolean).join(' and ');

/** Gives the cost of a request back, or a part of it. */
export const RefundForm = ({ accountId, requestId, onDone }: RefundProps) => (
  <DeskForm
    action="Refund"
    isDanger
    question={(data) => {
      const parts = partsIn(data);
      const what = Object.keys(parts).length === 0 ? 'all that is left of the cost' : textOf(parts);
      return `Give back ${what} of ${requestId ?? textIn(data, 'requestId')}?`;
    }}
    onSubmit={async (data) => {
      const body = {
        requestId: requestId ?? textIn(data, 'requestId'),
        reference: textIn(data, 'reference'),
        reason: textIn(data, 'reason'),
        ...partsIn(data),
      };
      await ask('POST', '/operator/v1/accounts/:id/refunds', { params: { id: accountId }, body });
      onDone('Refunded');
    }}
  >
    {(faults) => (
      <>
        {requestId === undefined && (
          <TextField
            label="Request id"
            name="requestId"
            placeholder="chatcmpl-…"
            problem={faults.get('requestId')}
            required
            autofocus
          />
        )}
        <TextField
          label="Amount in USD"
          name="usd"
          inputMode="decimal"
          hint="Both amounts empty: all that is left of its cost, in the currencies in which it was paid"
          problem={faults.get('usd')}
        />
        <TextField label="Amount in DIEM" name="diem" inputMode="decimal" problem={faults.get('diem')} />
        <ReferenceField problem={faults.get('reference')} />
        <ReasonField problem={faults.get('reason')} />
      </>
    )}
  </DeskForm>
);
