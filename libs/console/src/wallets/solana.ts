import { signal } from '@preact/signals';

interface SolanaAccount {
  readonly address: string;
}
interface SignedMessage {
  readonly signature: Uint8Array;
}

interface SignedTransaction {
  readonly signedTransaction: Uint8Array;
}

/** Those that signing in needs, and the one that paying needs; source: the Wallet Standard. */
interface SolanaFeatures {
  readonly 'standard:connect': { connect(): Promise<{ readonly accounts: readonly SolanaAccount[] }> };
  readonly 'solana:signMessage': {
    signMessage(input: {
      readonly account: SolanaAccount;
      readonly message: Uint8Array;
    }): Promise<readonly SignedMessage[]>;
  };
  readonly 'solana:signTransaction'?: {
    signTransaction(input: {
      readonly account: SolanaAccount;
      readonly transaction: Uint8Array;
      readonly chain: 'solana:mainnet';
    }): Promise<readonly SignedTransaction[]>;
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

/** Wallets say in no common way why they do not do something. */
async function answerOf<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw new Error('The wallet refused. Nothing was changed.', { cause });
  }
}

const base64Of = (bytes: Uint8Array = new Uint8Array()): string => btoa(String.fromCharCode(...bytes));

/** An account of the wallet, and how it signs a text and a transaction. All are in base64. */
export async function connectSolana({ features }: SolanaWallet) {
  const { accounts } = await answerOf(features['standard:connect'].connect());
  const [account] = accounts;
  if (!account) throw new Error('The wallet gave no address.');
  return {
    address: account.address,
    sign: async (text: string): Promise<string> => {
      const message = new TextEncoder().encode(text);
      const [signed] = await answerOf(features['solana:signMessage'].signMessage({ account, message }));
      return base64Of(signed?.signature);
    },
    signTransaction: async (wire: string): Promise<string> => {
      const signing = features['solana:signTransaction'];
      if (!signing) throw new Error('The wallet cannot sign payments.');
      const transaction = Uint8Array.from(atob(wire), (character) => character.charCodeAt(0));
      const [signed] = await answerOf(
        signing.signTransaction({ account, transaction, chain: 'solana:mainnet' }),
      );
      return base64Of(signed?.signedTransaction);
    },
  };
}
