import { BASE_NETWORK, SOLANA_NETWORK } from '@svc/contracts/money';
import type { WalletKind } from './sign-in-message.js';

/** A chain that wallets sign in on. Its kind of signature is what counts: an account pays on any rail. */
interface SignInChain {
  readonly network: string;
  readonly kind: WalletKind;
  readonly type: 'eip191' | 'ed25519';
  /** Its names in what clients send. */
  readonly names: readonly string[];
}

const REFERENCE = SOLANA_NETWORK.replace(/^solana:/, '');

export const SIGN_IN_CHAINS: readonly SignInChain[] = [
  { network: BASE_NETWORK, kind: 'evm', type: 'eip191', names: [BASE_NETWORK, '8453'] },
  {
    network: SOLANA_NETWORK,
    kind: 'solana',
    type: 'ed25519',
    names: [SOLANA_NETWORK, REFERENCE, 'solana', 'mainnet', 'solana:mainnet'],
  },
];
