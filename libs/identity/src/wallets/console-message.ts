import { keccak_256 } from '@noble/hashes/sha3.js';
import { Problem } from '@svc/contracts/problems';
import { walletName } from '@svc/contracts/ports';
import { CONSOLE_HOME } from '@svc/runtime';
import { SIGN_IN_CHAINS } from './sign-in-chains.js';
import { type SignInMessage, type WalletKind, messageText } from './sign-in-message.js';
import { EVM_ADDRESS } from './signatures.js';
import { solanaKey } from './solana-signature.js';

const STATEMENT = 'Sign in to the console of Svc AI';

/** Whether a message was signed for the console, where it counts, so that the API must not accept it. */
export function isForConsole({ uri }: Pick<SignInMessage, 'uri'>): boolean {
  return new URL(uri).pathname.startsWith(CONSOLE_HOME);
}

/** The canonical name of a wallet that can sign in. Refuses: X402_SIGN_IN_INVALID_WALLET. */
export function signingWallet(address: string): string {
  if (EVM_ADDRESS.test(address) || solanaKey(address)) return walletName(address);
  throw new Problem('X402_SIGN_IN_INVALID_WALLET');
}

/** The text by which a wallet signs in to the console. */
export function consoleMessage(
  wallet: string,
  { origin, nonce, until }: { readonly origin: URL; readonly nonce: string; readonly until: Date },
): string {
  const kind: WalletKind = wallet.startsWith('0x') ? 'evm' : 'solana';
  const network = SIGN_IN_CHAINS.find((chain) => chain.kind === kind)?.network ?? '';
  const parts = {
    domain: origin.host,
    address: kind === 'evm' ? checksummed(wallet) : wallet,
    statement: STATEMENT,
    uri: `${origin.origin}${CONSOLE_HOME}`,
    version: '1',
    nonce,
    issuedAt: new Date().toISOString(),
    expirationTime: until.toISOString(),
  };
  return messageText(kind, parts, network.slice(network.indexOf(':') + 1));
}

/** An address with its checksum in the case of its letters, on which some wallets insist. Source: ERC-55. */
function checksummed(wallet: string): string {
  const digits = wallet.slice(2);
  const digest = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex');
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(digest.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}
