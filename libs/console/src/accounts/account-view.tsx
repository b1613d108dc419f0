import { useState } from 'preact/hooks';
import { amountsText } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { Scoped } from '../desk/scoped.js';
import { addressOfPage } from '../shell/navigation.js';
import { Copyable } from '../ui/copy.js';
import { useResource } from '../ui/resource.js';
import { Loaded } from '../ui/states.js';
import { Tabs } from '../ui/tabs.js';
import { Time } from '../ui/time.js';
import { type ShownAccount, AccountBadges } from './account-badges.js';
import { AccountDialog, type AccountAction } from './account-dialogs.js';
import { AccountKeys } from './account-keys.js';
import { Movements } from './movements.js';
import { OpenHolds } from './open-holds.js';

interface FactsProps {
  readonly account: ShownAccount;
}

const Facts = ({ account }: FactsProps) => (
  <dl class="facts">
    <dt>Id</dt>
    <dd>
      <Copyable text={account.id} label="Id of the account" />
    </dd>
    {account.wallet !== null && (
      <>
        <dt>Wallet</dt>
        <dd class="mono">{account.wallet}</dd>
      </>
    )}
    <dt>Balance</dt>
    <dd>
      <strong>{amountsText(account.balances)}</strong>
    </dd>
    <dt>Terms</dt>
    <dd>
      <AccountBadges account={account} />
    </dd>
    {account.fallbackModels.length > 0 && (
      <>
        <dt>Falls back to</dt>
        <dd class="mono">{account.fallbackModels.join(', ')}</dd>
      </>
    )}
    {account.createdAt !== null && (
      <>
        <dt>Opened</dt>
        <dd>
          <Time at={account.createdAt} />
        </dd>
      </>
    )}
  </dl>
);

interface ButtonsProps {
  readonly account: ShownAccount;
  readonly onOpen: (action: AccountAction) => void;
}

function Buttons({ account, onOpen }: ButtonsProps) {
  const button = (action: AccountAction, text: string) => (
    <button type="button" onClick={() => onOpen(action)}>
      {text}
    </button>
  );
  return (
    <div class="row">
      <Scoped scope="money" what="Moving money">
        {button('credit', 'Credit')}
        {button('debit', 'Debit')}
        {button('refund', 'Refund')}
        {button('stake', 'Set the stake')}
      </Scoped>
      <Scoped scope="keys" what="Changing the account">
        {button('key', 'Create a key')}
        {button('terms', 'Change the terms')}
        {button('limits', 'Set the limits')}
        {account.state === 'active' ? button('suspend', 'Suspend') : button('resume', 'Resume')}
      </Scoped>
    </div>
  );
}

interface AccountViewProps {
  readonly id: string;
}

/** An account: what it has, its movements and its keys, and what can be done with it. */
export function AccountView({ id }: AccountViewProps) {
  const [open, setOpen] = useState<AccountAction>();
  const [changes, setChanges] = useState(0);
  const account = useResource(
    (signal) => ask('GET', '/operator/v1/accounts/:id', { params: { id }, signal }),
    [id, changes],
  );
  const changed = () => setChanges((before) => before + 1);
  return (
    <Loaded resource={account} rows={8}>
      {(value) => (
        <div class="stack">
          <p>
            <a href={addressOfPage('')}>All accounts</a>
          </p>
          <section class="card stack" aria-label="Account">
            <h2>{value.name}</h2>
            {value.suspension && (
              <p class="note danger">
                Suspended since <Time at={value.suspension.at} />: {value.suspension.reason}
              </p>
            )}
            <Facts account={value} />
            <Buttons account={value} onOpen={setOpen} />
            <p>
              <a href={addressOfPage('actions', { target: value.id })}>What operators have done with it</a>
            </p>
          </section>
          <Tabs
            label="Of the account"
            tabs={[
              {
                title: 'Movements',
                content: () => <Movements accountId={value.id} changes={changes} onChange={changed} />,
              },
              { title: 'Keys', content: () => <AccountKeys accountId={value.id} changes={changes} /> },
              { title: 'Under way', content: () => <OpenHolds accountId={value.id} changes={changes} /> },
            ]}
          />
          {open && (
            <AccountDialog
              action={open}
              account={value}
              onClose={() => setOpen(undefined)}
              onDone={changed}
            />
          )}
        </div>
      )}
    </Loaded>
  );
}
