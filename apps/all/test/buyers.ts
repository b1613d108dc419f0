import { LocalChain, LocalSolana } from '@svc/infra';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import {
  type EvmWallet,
  type SolanaWallet,
  type TestWallet,
  base64,
  evmWallet,
  solanaWallet,
} from './wallets.js';

const BASE = 'eip155:8453';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

/** A wallet with USDC, and the client library of x402 that pays from it, unmodified. */
export interface Buyer<Wallet extends TestWallet = TestWallet> {
  readonly wallet: Wallet;
  readonly client: x402Client;
  /** `fetch` that pays by itself. */
  readonly fetch: typeof fetch;
}

export async function buyer(chain: LocalChain, usdc: number): Promise<Buyer<EvmWallet>> {
  const wallet = evmWallet();
  await chain.mint(wallet.address, usdc);
  return buyerWith(wallet, new x402Client().register(BASE, new ExactEvmScheme(wallet.account)));
}

/** The same on Solana. */
export async function solanaBuyer(chain: LocalSolana, usdc: number): Promise<Buyer<SolanaWallet>> {
  const wallet = solanaWallet();
  await chain.mint(wallet.address, usdc);
  const scheme = new ExactSvmScheme(wallet.signer, { rpcUrl: chain.url });
  return buyerWith(wallet, new x402Client().register(SOLANA, scheme));
}

function buyerWith<Wallet extends TestWallet>(wallet: Wallet, client: x402Client): Buyer<Wallet> {
  // Unless it is told so, the library pays no more than a dollar.
  client.setSpendControls({ maxAmountPerPayment: '$10000' });
  return { wallet, client, fetch: wrapFetchWithPayment(fetch, client) };
}

/** A payment header for what a top-up asks for, signed by the client library. */
export async function paymentOf({ client }: Buyer, topUpUrl: string): Promise<string> {
  const asked = await fetch(topUpUrl, { method: 'POST' });
  const header = asked.headers.get('payment-required') ?? '';
  const required = JSON.parse(Buffer.from(header, 'base64').toString()) as Parameters<
    x402Client['createPaymentPayload']
  >[0];
  return base64(await client.createPaymentPayload(required));
}
