import type { PaymentOption } from '@svc/api/wallets';
import { call } from '../api/client.js';
import { type EvmWallet, connectEvm, evmWallets, signTransfer } from './evm.js';
import { type SolanaWallet, connectSolana, solanaWallets } from './solana.js';

/** A wallet of this browser that can pay, and how it signs a payment of an amount. */
export interface Payer {
  readonly id: string;
  readonly name: string;
  /** Resolves with the header with which the payment is sent. */
  readonly sign: (option: PaymentOption, amount: string) => Promise<string>;
}

/** A signed payment, as x402 sends it. */
const headerOf = (accepted: PaymentOption, payload: object): string =>
  btoa(JSON.stringify({ x402Version: 2, payload, accepted }));

async function signOnEvm(wallet: EvmWallet, option: PaymentOption): Promise<string> {
  return headerOf(option, await signTransfer(wallet, await connectEvm(wallet), option));
}

/** The service prepares the transaction: what it contains only a node knows, and the page may ask none. */
async function signOnSolana(wallet: SolanaWallet, option: PaymentOption, amount: string): Promise<string> {
  const { address, signTransaction } = await connectSolana(wallet);
  const { data } = await call('POST', '/api/v1/x402/solana-transfer', { body: { amount, payer: address } });
  return headerOf(option, { transaction: await signTransaction(data.transaction) });
}

/** The wallets that can pay on a network. */
export function payersOn({ network }: PaymentOption): readonly Payer[] {
  if (network.startsWith('eip155:'))
    return evmWallets.value.map((wallet) => ({
      id: wallet.info.uuid,
      name: wallet.info.name,
      sign: (option) => signOnEvm(wallet, option),
    }));
  return solanaWallets.value
    .filter(({ features }) => 'solana:signTransaction' in features)
    .map((wallet) => ({
      id: wallet.name,
      name: wallet.name,
      sign: (option, amount) => signOnSolana(wallet, option, amount),
    }));
}
