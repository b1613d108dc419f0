import { call } from '../api/client.js';
import { type EvmWallet, connectEvm, signText } from './evm.js';
import { type SolanaWallet, connectSolana } from './solana.js';

interface WalletProof {
  readonly message: string;
  readonly signature: string;
}

const challenge = async (address: string): Promise<string> =>
  (await call('POST', '/console/api/session/challenge', { body: { address } })).message;

/** Has a wallet sign the text with which its holder signs in. */
export async function proveByEvm(wallet: EvmWallet): Promise<WalletProof> {
  const address = await connectEvm(wallet);
  const message = await challenge(address);
  return { message, signature: await signText(wallet, address, message) };
}

export async function proveBySolana(wallet: SolanaWallet): Promise<WalletProof> {
  const { address, sign } = await connectSolana(wallet);
  const message = await challenge(address);
  return { message, signature: await sign(message) };
}
