import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from '../ui/states.js';
import { evmWallets, findEvmWallets } from './evm.js';
import { findSolanaWallets, solanaWallets } from './solana.js';
import { proveByEvm, proveBySolana } from './wallet-proof.js';

interface ChoiceProps {
  readonly icon: string;
  readonly name: string;
  readonly network: string;
  readonly isBusy: boolean;
  readonly onChoose: () => void;
}

/** Icons are data of the wallet; those of other hosts are not loaded. */
const Choice = ({ icon, name, network, isBusy, onChoose }: ChoiceProps) => (
  <button type="button" disabled={isBusy} onClick={onChoose}>
    {icon.startsWith('data:image/') && <img src={icon} alt="" width={22} height={22} />}
    {name} <span class="muted">{network}</span>
  </button>
);

interface WalletChoiceProps {
  readonly onProof: (proof: { message: string; signature: string }) => Promise<void>;
}

/** The wallets of this browser, for signing in. */
export function WalletChoice({ onProof }: WalletChoiceProps) {
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    findEvmWallets();
    findSolanaWallets();
  }, []);
  const prove = async (proof: Promise<{ message: string; signature: string }>) => {
    setBusy(true);
    setError(undefined);
    try {
      await onProof(await proof);
    } catch (cause) {
      setError(cause as Error);
    }
    setBusy(false);
  };
  const isEmpty = evmWallets.value.length === 0 && solanaWallets.value.length === 0;
  return (
    <div class="stack">
      <div class="choices">
        {evmWallets.value.map((wallet) => (
          <Choice
            key={wallet.info.uuid}
            icon={wallet.info.icon}
            name={wallet.info.name}
            network="EVM"
            isBusy={isBusy}
            onChoose={() => void prove(proveByEvm(wallet))}
          />
        ))}
        {solanaWallets.value.map((wallet) => (
          <Choice
            key={wallet.name}
            icon={wallet.icon}
            name={wallet.name}
            network="Solana"
            isBusy={isBusy}
            onChoose={() => void prove(proveBySolana(wallet))}
          />
        ))}
      </div>
      {isEmpty && <p class="hint">With a wallet in this browser, its holder can sign in here, too.</p>}
      {error && <ErrorNote error={error} />}
    </div>
  );
}
