import type { PaymentOption } from '@svc/api/wallets';
import { TOP_UP_LEAST_USD, TOP_UP_MOST_USD, USDC_DECIMALS } from '@svc/contracts/money';
import { useEffect, useState } from 'preact/hooks';
import { textIn } from '../text/form-text.js';
import { usd } from '../text/format.js';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import {
  type EvmWallet,
  chainIdOf,
  connectEvm,
  evmWallets,
  findEvmWallets,
  signPayment,
} from '../wallets/evm.js';
import { type ToppedUp, pay, paymentOptions } from './top-up.js';

const NETWORKS: Readonly<Record<number, string>> = { 1: 'Ethereum', 8453: 'Base', 84532: 'Base Sepolia' };

/** Of the unit of USDC, as dollars. */
const usdcOf = (units: string): string => usd(BigInt(units) * 10n ** BigInt(9 - USDC_DECIMALS));

interface OfferProps {
  readonly option: PaymentOption;
  readonly amount: string;
  readonly onClose: () => void;
  readonly onPaid: (result: ToppedUp) => void;
}

/** Has a wallet sign the payment. The credit belongs to the account that is signed in, whoever pays. */
async function payWith(wallet: EvmWallet, { option, amount }: OfferProps): Promise<ToppedUp> {
  const address = await connectEvm(wallet);
  return pay(await signPayment(wallet, address, option), amount);
}

/** What is paid, to whom and where, before the wallet opens. */
function Offer(props: OfferProps) {
  const { option, onClose, onPaid } = props;
  const chainId = chainIdOf(option.network);
  const { error, isBusy, run } = useAction(async (wallet: EvmWallet) => onPaid(await payWith(wallet, props)));
  return (
    <Dialog title="Add credit" onClose={onClose} mustStay={isBusy}>
      <dl class="facts">
        <dt>You pay</dt>
        <dd>
          <strong>{usdcOf(option.amount)}</strong> in USDC
        </dd>
        <dt>To</dt>
        <dd class="mono">{option.payTo}</dd>
        <dt>Network</dt>
        <dd>{NETWORKS[chainId] ?? option.network}; you pay no fee</dd>
        <dt>Token</dt>
        <dd class="mono">{option.asset}</dd>
      </dl>
      <p class="hint">
        The wallet asks you to sign a transfer of exactly this amount. It is valid for a few minutes.
      </p>
      {error && <ErrorNote error={error} />}
      {evmWallets.value.length === 0 && <p class="note warn">No wallet was found in this browser.</p>}
      <div class="choices">
        {evmWallets.value.map((wallet) => (
          <button
            key={wallet.info.uuid}
            type="button"
            class="primary"
            disabled={isBusy}
            onClick={() => void run(wallet)}
          >
            {isBusy ? 'Waiting for the wallet and the network…' : `Pay with ${wallet.info.name}`}
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
  const [offer, setOffer] = useState<{ option: PaymentOption; amount: string }>();
  const [paid, setPaid] = useState<ToppedUp>();
  const [error, setError] = useState<Error>();
  useEffect(findEvmWallets, []);
  const submit = async (amount: string) => {
    setError(undefined);
    setPaid(undefined);
    try {
      const options = await paymentOptions(amount);
      const option = options.find(({ network }) => network.startsWith('eip155:'));
      if (!option) throw new Error('This service takes no payments on EVM networks.');
      setOffer({ option, amount });
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
