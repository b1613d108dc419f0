import { textIn } from '../text/form-text.js';
import { DeskForm } from './desk-form.js';
import { usdOf } from './money-text.js';
import { ask } from './operator.js';
import { ReasonField, ReferenceField, TextField } from './text-field.js';

interface RefundProps {
  readonly accountId: string;
  /** The request, if it is known. */
  readonly requestId?: string;
  readonly onDone: (text: string) => void;
}

/** Gives the cost of a request back, or a part of it. */
export const RefundForm = ({ accountId, requestId, onDone }: RefundProps) => (
  <DeskForm
    action="Refund"
    isDanger
    question={(data) => {
      const usd = textIn(data, 'usd');
      const what = usd === '' ? 'all that is left of the cost' : usdOf(usd);
      return `Give back ${what} of ${requestId ?? textIn(data, 'requestId')}?`;
    }}
    onSubmit={async (data) => {
      const usd = textIn(data, 'usd');
      const body = {
        requestId: requestId ?? textIn(data, 'requestId'),
        reference: textIn(data, 'reference'),
        reason: textIn(data, 'reason'),
        ...(usd !== '' && { usd }),
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
          hint="Empty: all that is left of its cost, in the currencies in which it was paid"
          problem={faults.get('usd')}
        />
        <ReferenceField problem={faults.get('reference')} />
        <ReasonField problem={faults.get('reason')} />
      </>
    )}
  </DeskForm>
);
