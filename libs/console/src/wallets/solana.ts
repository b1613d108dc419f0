import { signal } from '@preact/signals';

interface SolanaAccount {
  readonly address: string;
}
interface SignedMessage {
  readonly signature: Uint8Array;
}

/** The features that signing in needs; source: the Wallet Standard. */
interface SolanaFeatures {
  readonly 'standard:connect': { connect(): Promise<{ readonly accounts: readonly SolanaAccount[] }> };
  readonly 'solana:signMessage': {
    signMessage(input: {
      readonly account: SolanaAccount;
      readonly message: Uint8Array;
    }): Promise<readonly SignedMessage[]>;
  };
}

export interface SolanaWallet {
  readonly name: string;
  readonly icon: string;
  readonly features: SolanaFeatures;
}

const isWallet = (value: unknown): value is SolanaWallet => {
  const features =
    typeof value === 'object' && value !== null && 'features' in value ? value.features : undefined;
  return (
    typeof features === 'object' &&
    features !== null &&
    'standard:connect' in features &&
    'solana:signMessage' in features
  );
};

/** The Solana wallets of this browser. */
export const solanaWallets = signal<readonly SolanaWallet[]>([]);

/** What a wallet registers with. */
const register = (...wallets: readonly unknown[]): void => {
  const known = new Set(solanaWallets.value.map(({ name }) => name));
  const added = wallets.filter(isWallet).filter(({ name }) => !known.has(name));
  solanaWallets.value = [...solanaWallets.value, ...added];
};

type Registration = (api: { readonly register: typeof register }) => void;

let isListening = false;

/** Says that this page takes wallets, and takes those that come later. */
export function findSolanaWallets(): void {
  if (isListening) return;
  isListening = true;
  addEventListener('wallet-standard:register-wallet', (event) => {
    const take: unknown = event instanceof CustomEvent ? event.detail : undefined;
    if (typeof take === 'function') (take as Registration)({ register });
  });
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: { register } }));
}

/** An account of the wallet, and how it signs a text. The signature is in base64. */
export async function connectSolana({ features }: SolanaWallet) {
  try {
    const { accounts } = await features['standard:connect'].connect();
    const [account] = accounts;
    if (!account) throw new Error('The wallet gave no address.');
    return {
      address: account.address,
      sign: async (text: string): Promise<string> => {
        const message = new TextEncoder().encode(text);
        const [signed] = await features['solana:signMessage'].signMessage({ account, message });
        return btoa(String.fromCharCode(...(signed?.signature ?? [])));
      },
    };
  } catch (cause) {
    throw new Error('The wallet refused. Nothing was changed.', { cause });
  }
}
