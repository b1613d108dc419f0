import { useRef, useState } from 'preact/hooks';
import { CallError } from '../api/call-error.js';
import { DeskForm } from '../desk/desk-form.js';
import { ask, may } from '../desk/operator.js';
import { TextField } from '../desk/text-field.js';
import { addressOfPage } from '../shell/navigation.js';
import { textIn } from '../text/form-text.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/fields.js';
import { CustomerKey } from './customer-key.js';

/** What has been done, so that a form that is sent again goes on from there. */
interface Progress {
  accountId?: string;
  isCredited?: boolean;
}

/** An account whose opening got no response may exist all the same. */
async function opened(data: FormData): Promise<string> {
  const wallet = textIn(data, 'wallet');
  const body = {
    name: textIn(data, 'name'),
    tier: data.get('tier') === 'partner' ? ('partner' as const) : ('standard' as const),
    paid: data.get('paid') !== null,
    ...(wallet !== '' && { wallet }),
  };
  try {
    return (await ask('POST', '/operator/v1/accounts', { body })).id;
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 0) throw error;
    throw new Error('There was no response. Look for the account in the list before you send this again.', {
      cause: error,
    });
  }
}

/** Opens the account, credits it and creates its key, as far as that is not done yet. Returns the key. */
async function open(data: FormData, progress: Progress): Promise<string | undefined> {
  progress.accountId ??= await opened(data);
  const params = { id: progress.accountId };
  const usd = textIn(data, 'usd');
  if (usd !== '' && !progress.isCredited) {
    const body = { usd, reference: textIn(data, 'reference') };
    await ask('POST', '/operator/v1/accounts/:id/credits', { params, body });
    progress.isCredited = true;
  }
  if (data.get('key') === null) return undefined;
  const body = { apiKeyType: 'INFERENCE' as const, description: textIn(data, 'description') };
  return (await ask('POST', '/operator/v1/accounts/:id/api_keys', { params, body })).apiKey;
}

type FieldFaults = ReadonlyMap<string, string>;

const Terms = ({ faults }: { readonly faults: FieldFaults }) => (
  <>
    <TextField label="Name" name="name" maxLength={200} problem={faults.get('name')} required autofocus />
    <div class="fields">
      <Field label="Tier">
        <select name="tier">
          <option value="standard">standard</option>
          <option value="partner">partner</option>
        </select>
      </Field>
      <TextField
        label="Wallet"
        name="wallet"
        hint="Only for the account of a wallet"
        problem={faults.get('wallet')}
      />
    </div>
    <label class="check">
      <input type="checkbox" name="paid" defaultChecked /> May use models for paid accounts
    </label>
  </>
);

function Credit({ faults }: { readonly faults: FieldFaults }) {
  const [usd, setUsd] = useState('');
  return (
    <div
      class="fields"
      onInput={({ target }) =>
        target instanceof HTMLInputElement && target.name === 'usd' && setUsd(target.value.trim())
      }
    >
      <TextField
        label="First credit in USD"
        name="usd"
        inputMode="decimal"
        placeholder="50.00"
        hint="Empty: none"
        problem={faults.get('usd')}
      />
      <TextField
        label="Reference"
        name="reference"
        hint="Such as the number of an invoice"
        maxLength={200}
        required={usd !== ''}
        problem={faults.get('reference')}
      />
    </div>
  );
}

function FirstKey({ faults }: { readonly faults: FieldFaults }) {
  const [isWanted, setWanted] = useState(true);
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          name="key"
          checked={isWanted}
          onChange={(event) => setWanted(event.currentTarget.checked)}
        />{' '}
        Create an INFERENCE key
      </label>
      {isWanted && (
        <TextField
          label="Description of the key"
          name="description"
          maxLength={64}
          problem={faults.get('description')}
        />
      )}
    </>
  );
}

interface OpenAccountProps {
  readonly onClose: () => void;
}

/** Opens an account with its first credit and key in one form. */
export function OpenAccount({ onClose }: OpenAccountProps) {
  const progress = useRef<Progress>({});
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return <CustomerKey title="The account is open" secret={secret} onClose={onClose} />;
  const { accountId } = progress.current;
  return (
    <Dialog title="Open an account" atSide onClose={onClose}>
      <DeskForm
        action={accountId === undefined ? 'Open' : 'Go on'}
        onSubmit={async (data) => {
          const apiKey = await open(data, progress.current);
          announce('The account is open');
          if (apiKey === undefined) onClose();
          else setSecret(apiKey);
        }}
      >
        {(faults) => (
          <>
            {accountId === undefined ? (
              <Terms faults={faults} />
            ) : (
              <p class="note warn">
                The <a href={addressOfPage('', { id: accountId })}>account</a> is open
                {progress.current.isCredited && ' and credited'}; only what follows failed.
              </p>
            )}
            {may('money') ? (
              <Credit faults={faults} />
            ) : (
              <p class="hint">Crediting it needs a token with the scope “money”.</p>
            )}
            <FirstKey faults={faults} />
          </>
        )}
      </DeskForm>
    </Dialog>
  );
}
