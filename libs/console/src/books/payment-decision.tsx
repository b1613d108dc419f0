import { useState } from 'preact/hooks';
import { DeskForm } from '../desk/desk-form.js';
import { usdOf } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { ReasonField, TextField } from '../desk/text-field.js';
import { textIn } from '../text/form-text.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Segments } from '../ui/fields.js';
import type { ShownPayment } from './payment-rows.js';

const DECISIONS = [
  ['credit', 'It was paid'],
  ['fail', 'It was not paid'],
] as const;
type Decision = (typeof DECISIONS)[number][0];

interface DecisionProps {
  readonly payment: ShownPayment;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Ends a payment by decision, which the service checks against the chain. */
export function PaymentDecision({ payment: { id, usd }, onClose, onDone }: DecisionProps) {
  const [decision, setDecision] = useState<Decision>('credit');
  return (
    <Dialog title="Decide a payment" onClose={onClose}>
      <DeskForm
        action="Decide"
        isDanger
        question={() =>
          `Is it certain that this payment of ${usdOf(usd)} was ${decision === 'credit' ? '' : 'not '}made?`
        }
        onSubmit={async (data) => {
          const reason = textIn(data, 'reason');
          const body =
            decision === 'credit'
              ? { decision, transaction: textIn(data, 'transaction'), reason }
              : { decision, reason };
          await ask('POST', '/operator/v1/payments/:id/resolve', { params: { id }, body });
          announce('The payment is decided');
          onClose();
          onDone();
        }}
      >
        {(faults) => (
          <>
            <p class="mono">{id}</p>
            <Segments label="Decision" value={decision} options={DECISIONS} onChange={setDecision} />
            {decision === 'credit' && (
              <TextField
                label="Transaction"
                name="transaction"
                hint="Its hash on the chain, where it is looked up"
                problem={faults.get('transaction')}
                required
              />
            )}
            <ReasonField problem={faults.get('reason')} />
          </>
        )}
      </DeskForm>
    </Dialog>
  );
}
