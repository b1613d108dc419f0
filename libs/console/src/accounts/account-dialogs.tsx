import { useState } from 'preact/hooks';
import { DeskForm } from '../desk/desk-form.js';
import { usdOf } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { RefundForm } from '../desk/refund-form.js';
import { ReasonField, ReferenceField, TextField, UsdField } from '../desk/text-field.js';
import { textIn } from '../text/form-text.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { FallbackFields, fallbacksOf } from '../ui/fallback-fields.js';
import { Field } from '../ui/fields.js';
import type { ShownAccount } from './account-badges.js';
import { CustomerKey } from './customer-key.js';
import { LimitsForm } from './limits-form.js';
import { StakeForm } from './stake-form.js';

/** What can be done with an account. */
export type AccountAction =
  'credit' | 'debit' | 'refund' | 'stake' | 'key' | 'terms' | 'limits' | 'suspend' | 'resume';

const TITLES: Readonly<Record<AccountAction, string>> = {
  credit: 'Credit',
  debit: 'Debit',
  refund: 'Refund',
  stake: 'Stake of',
  key: 'Create a key for',
  terms: 'Terms of',
  limits: 'Limits of',
  suspend: 'Suspend',
  resume: 'Resume',
};

interface ActionProps {
  readonly account: ShownAccount;
  /** Shows that something was done, and closes. */
  readonly onDone: (text: string) => void;
}

const Credit = ({ account: { id, name }, onDone }: ActionProps) => (
  <DeskForm
    action="Credit"
    question={(data) => `Give ${usdOf(textIn(data, 'usd'))} to ${name}?`}
    onSubmit={async (data) => {
      const body = { usd: textIn(data, 'usd'), reference: textIn(data, 'reference') };
      await ask('POST', '/operator/v1/accounts/:id/credits', { params: { id }, body });
      onDone(`${usdOf(body.usd)} credited`);
    }}
  >
    {(faults) => (
      <>
        <UsdField problem={faults.get('usd')} autofocus />
        <ReferenceField problem={faults.get('reference')} />
      </>
    )}
  </DeskForm>
);

const Debit = ({ account: { id, name, balances }, onDone }: ActionProps) => (
  <DeskForm
    action="Debit"
    isDanger
    question={(data) => `Take ${usdOf(textIn(data, 'usd'))} from ${name}, which has ${usdOf(balances.usd)}?`}
    onSubmit={async (data) => {
      const [usd, reference, reason] = [
        textIn(data, 'usd'),
        textIn(data, 'reference'),
        textIn(data, 'reason'),
      ];
      const body = { usd, reference, reason };
      await ask('POST', '/operator/v1/accounts/:id/debits', { params: { id }, body });
      onDone(`${usdOf(usd)} taken`);
    }}
  >
    {(faults) => (
      <>
        <UsdField problem={faults.get('usd')} autofocus />
        <ReferenceField problem={faults.get('reference')} />
        <ReasonField problem={faults.get('reason')} />
        <p class="hint">At most the balance, less what requests under way hold.</p>
      </>
    )}
  </DeskForm>
);

function Key({ account: { id }, onDone }: ActionProps) {
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return <CustomerKey title="The new key" secret={secret} onClose={() => onDone('The key is created')} />;
  return (
    <DeskForm
      action="Create"
      onSubmit={async (data) => {
        const apiKeyType = data.get('type') === 'ADMIN' ? ('ADMIN' as const) : ('INFERENCE' as const);
        const body = { apiKeyType, description: textIn(data, 'description') };
        const made = await ask('POST', '/operator/v1/accounts/:id/api_keys', { params: { id }, body });
        setSecret(made.apiKey);
      }}
    >
      {(faults) => (
        <>
          <TextField
            label="Description"
            name="description"
            maxLength={64}
            problem={faults.get('description')}
            autofocus
          />
          <Field label="Type">
            <select name="type">
              <option value="INFERENCE">INFERENCE: makes requests</option>
              <option value="ADMIN">ADMIN: also manages the account</option>
            </select>
          </Field>
        </>
      )}
    </DeskForm>
  );
}

const Terms = ({ account, onDone }: ActionProps) => (
  <DeskForm
    action="Save"
    onSubmit={async (data) => {
      const tier = data.get('tier') === 'partner' ? ('partner' as const) : ('standard' as const);
      const body = { tier, paid: data.get('paid') !== null, ...fallbacksOf(data) };
      await ask('PATCH', '/operator/v1/accounts/:id', { params: { id: account.id }, body });
      onDone('The terms are changed');
    }}
  >
    {() => (
      <>
        <Field label="Tier" hint="Which limits of the catalogue hold for it">
          <select name="tier" autofocus>
            {['standard', 'partner'].map((tier) => (
              <option key={tier} selected={tier === account.tier}>
                {tier}
              </option>
            ))}
          </select>
        </Field>
        <label class="check">
          <input type="checkbox" name="paid" defaultChecked={account.paid} /> May use models for paid accounts
        </label>
        <FallbackFields
          current={account}
          hint="Ids, tried in this order when a model of a completion fails, unless the request or its key names others"
        />
      </>
    )}
  </DeskForm>
);

const Suspend = ({ account: { id, name }, onDone }: ActionProps) => (
  <DeskForm
    action="Suspend"
    isDanger
    question={() => `Refuse every request of ${name} within a second, until somebody resumes it?`}
    onSubmit={async (data) => {
      const body = { reason: textIn(data, 'reason') };
      await ask('PUT', '/operator/v1/accounts/:id/suspension', { params: { id }, body });
      onDone('The account is suspended');
    }}
  >
    {(faults) => (
      <>
        <p>Requests under way finish and are charged. Keys, limits and balances stay as they are.</p>
        <ReasonField problem={faults.get('reason')} autofocus />
      </>
    )}
  </DeskForm>
);

const Resume = ({ account: { id, suspension }, onDone }: ActionProps) => (
  <DeskForm
    action="Resume"
    onSubmit={async () => {
      await ask('DELETE', '/operator/v1/accounts/:id/suspension', { params: { id } });
      onDone('The account is served again');
    }}
  >
    {() => <p>It was suspended for this reason: {suspension?.reason ?? ''}</p>}
  </DeskForm>
);

const Refund = ({ account: { id }, onDone }: ActionProps) => <RefundForm accountId={id} onDone={onDone} />;

const FORMS = {
  credit: Credit,
  debit: Debit,
  refund: Refund,
  stake: StakeForm,
  key: Key,
  terms: Terms,
  limits: LimitsForm,
  suspend: Suspend,
  resume: Resume,
};

interface AccountDialogProps {
  readonly action: AccountAction;
  readonly account: ShownAccount;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The dialog of an action. */
export function AccountDialog({ action, account, onClose, onDone }: AccountDialogProps) {
  const Form = FORMS[action];
  const done = (text: string) => {
    announce(text);
    onClose();
    onDone();
  };
  return (
    <Dialog title={`${TITLES[action]} ${account.name}`} onClose={onClose}>
      <Form account={account} onDone={done} />
    </Dialog>
  );
}
