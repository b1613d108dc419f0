import type { PaymentOption } from '@svc/api/wallets';
import { SOLANA_NETWORK, TOP_UP_LEAST_USD, TOP_UP_MOST_USD, USDC_DECIMALS } from '@svc/contracts/money';
import { useEffect, useState } from 'preact/hooks';
import { textIn } from '../text/form-text.js';
import { usd } from '../text/format.js';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Field, Segments } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import { findEvmWallets } from '../wallets/evm.js';
import { type Payer, payersOn } from '../wallets/payers.js';
import { findSolanaWallets } from '../wallets/solana.js';
import { type ToppedUp, pay, paymentOptions } from './top-up.js';

const NETWORKS: Readonly<Record<string, string>> = {
  'eip155:1': 'Ethereum',
  'eip155:8453': 'Base',
  'eip155:84532': 'Base Sepolia',
  [SOLANA_NETWORK]: 'Solana',
};
const nameOf = ({ network }: PaymentOption): string => NETWORKS[network] ?? network;

/** Of the unit of USDC, as dollars. */
const usdcOf = (units: string): string => usd(BigInt(units) * 10n ** BigInt(9 - USDC_DECIMALS));

interface OfferProps {
  readonly options: readonly PaymentOption[];
  readonly amount: string;
  readonly onClose: () => void;
  readonly onPaid: (result: ToppedUp) => void;
}

function findWallets(): void {
  findEvmWallets();
  findSolanaWallets();
}

/** What is paid, to whom and where, before the wallet opens. */
function Offer({ options, amount, onClose, onPaid }: OfferProps) {
  const [chosen, setChosen] = useState('');
  const option =
    options.find(({ network }) => network === chosen) ??
    options.find((each) => payersOn(each).length > 0) ??
    options[0];
  // The credit belongs to the account that is signed in, whoever pays.
  const { error, isBusy, run } = useAction(async ({ sign }: Payer) => {
    if (option) onPaid(await pay(await sign(option, amount), amount));
  });
  if (!option) return null;
  const payers = payersOn(option);
  return (
    <Dialog title="Add credit" onClose={onClose} mustStay={isBusy}>
      {options.length > 1 && (
        <Segments
          label="Network"
          value={option.network}
          options={options.map((each) => [each.network, nameOf(each)] as const)}
          onChange={setChosen}
        />
      )}
      <dl class="facts">
        <dt>You pay</dt>
        <dd>
          <strong>{usdcOf(option.amount)}</strong> in USDC
        </dd>
        <dt>To</dt>
        <dd class="mono">{option.payTo}</dd>
        <dt>Network</dt>
        <dd>{nameOf(option)}; you pay no fee</dd>
        <dt>Token</dt>
        <dd class="mono">{option.asset}</dd>
      </dl>
      <p class="hint">
        The wallet asks you to sign a transfer of exactly this amount. It is valid for a few minutes.
      </p>
      {error && <ErrorNote error={error} />}
      {payers.length === 0 && (
        <p class="note warn">No wallet for {nameOf(option)} was found in this browser.</p>
      )}
      <div class="choices">
        {payers.map((payer) => (
          <button
            key={payer.id}
            type="button"
            class="primary"
            disabled={isBusy}
            onClick={() => void run(payer)}
          >
            {isBusy ? 'Waiting for the wallet and the network…' : `Pay with ${payer.name}`}
          </button>
        ))}
      </div>
    </Dialog>
  );
}

interface TopUpFormProps {
  readonly onPaid: () => void;
}

/** Credit for USDC of a wallet in this browser. */
export function TopUpForm({ onPaid }: TopUpFormProps) {
  const [offer, setOffer] = useState<{ options: readonly PaymentOption[]; amount: string }>();
  const [paid, setPaid] = useState<ToppedUp>();
  const [error, setError] = useState<Error>();
  useEffect(findWallets, []);
  const submit = async (amount: string) => {
    setError(undefined);
    setPaid(undefined);
    try {
      const options = await paymentOptions(amount);
      if (options.length === 0) throw new Error('This service takes no payments by wallets.');
      setOffer({ options, amount });
    } catch (cause) {
      setError(cause as Error);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(textIn(new FormData(event.currentTarget), 'amount'));
      }}
    >
      <Field
        label="Amount in US dollars"
        hint={`From ${TOP_UP_LEAST_USD} to ${TOP_UP_MOST_USD.toLocaleString('en')}, with at most six decimals`}
      >
        <input
          name="amount"
          type="number"
          min={TOP_UP_LEAST_USD}
          max={TOP_UP_MOST_USD}
          step="0.000001"
          defaultValue="10"
          list="amounts"
          required
        />
      </Field>
      <datalist id="amounts">
        {['5', '10', '25', '50', '100'].map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      {error && <ErrorNote error={error} />}
      {paid && (
        <p class="note good">
          {usd(paid.amountCredited)} credited. Payment <span class="mono">{paid.paymentId}</span>
        </p>
      )}
      <div class="row end">
        <button class="primary">Continue</button>
      </div>
      {offer && (
        <Offer
          {...offer}
          onClose={() => setOffer(undefined)}
          onPaid={(result) => {
            setOffer(undefined);
            setPaid(result);
            announce('The credit has been added');
            onPaid();
          }}
        />
      )}
    </form>
  );
}
