import { LocalChain, LocalSolana } from '@svc/infra';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Platform } from './platform.js';
import {
  type EvmWallet,
  type SolanaWallet,
  type TestWallet,
  base64,
  evmWallet,
  signedInAt,
  solanaKeyPair,
  solanaWallet,
} from './wallets.js';

type Network = `${string}:${string}`;

const BASE: Network = 'eip155:8453';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

/** A wallet with USDC, and the unmodified client library of x402 that pays from it. */
export interface Buyer<Wallet extends TestWallet = TestWallet> {
  readonly wallet: Wallet;
  readonly client: x402Client;
  /** A `fetch` that pays automatically. */
  readonly fetch: typeof fetch;
}

export async function buyer(chain: LocalChain, usdc: number, network = BASE): Promise<Buyer<EvmWallet>> {
  const wallet = evmWallet();
  await chain.mint(wallet.address, usdc);
  return buyerWith(wallet, new x402Client().register(network, new ExactEvmScheme(wallet.account)));
}

/** The same on Solana. */
export async function solanaBuyer(chain: LocalSolana, usdc: number): Promise<Buyer<SolanaWallet>> {
  const wallet = solanaWallet();
  await chain.mint(wallet.address, usdc);
  const scheme = new ExactSvmScheme(wallet.signer, { rpcUrl: chain.url });
  return buyerWith(wallet, new x402Client().register(SOLANA, scheme));
}

function buyerWith<Wallet extends TestWallet>(wallet: Wallet, client: x402Client): Buyer<Wallet> {
  // By default, the library pays no more than a dollar.
  client.setSpendControls({ maxAmountPerPayment: '$10000' });
  return { wallet, client, fetch: wrapFetchWithPayment(fetch, client) };
}

/** A payment header for the terms of a top-up, signed by the client library. */
export async function paymentOf({ client }: Buyer, topUpUrl: string): Promise<string> {
  const response = await fetch(topUpUrl, { method: 'POST' });
  const header = response.headers.get('payment-required') ?? '';
  const required = JSON.parse(Buffer.from(header, 'base64').toString()) as Parameters<
    x402Client['createPaymentPayload']
  >[0];
  return base64(await client.createPaymentPayload(required));
}

/** A seller on a chain, with its settings. */
export interface Seller {
  readonly address: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A new seller on Base, whose signer has gas; `url` is that of the node. */
export async function sellerOn(
  chain: LocalChain,
  { url = chain.url, prefix = 'X402_EVM' }: { readonly url?: string; readonly prefix?: string } = {},
): Promise<Seller> {
  const signer = generatePrivateKey();
  await chain.fund(privateKeyToAccount(signer).address);
  const { address } = evmWallet();
  const env = {
    [`${prefix}_RPC_URL`]: url,
    [`${prefix}_PAY_TO`]: address,
    [`${prefix}_SIGNER_KEY`]: signer,
    [`${prefix}_CONFIRMATIONS`]: '1',
  };
  return { address, env };
}

/** The same on Solana, with the account that pays the fees. */
export async function sellerOnSolana(chain: LocalSolana): Promise<Seller & { readonly feePayer: string }> {
  const { address: feePayer, key } = solanaKeyPair();
  chain.fund(feePayer);
  const { address } = solanaWallet();
  await chain.mint(address, 0);
  const env = {
    X402_SOLANA_RPC_URL: chain.url,
    X402_SOLANA_PAY_TO: address,
    X402_SOLANA_SIGNER_KEY: key,
  };
  return { address, feePayer, env };
}

export const topUpUrl = ({ apiUrl }: Pick<Platform, 'apiUrl'>, usd?: number): string =>
  `${apiUrl}/x402/top-up${usd === undefined ? '' : `?amount=${usd}`}`;

/** Sends a payment header, under one of its names. */
export const pay = (
  platform: Pick<Platform, 'apiUrl'>,
  header: string,
  name = 'PAYMENT-SIGNATURE',
): Promise<Response> => fetch(topUpUrl(platform), { method: 'POST', headers: { [name]: header } });

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };

/** A chat completion paid by a wallet. */
export async function chat(platform: Platform, wallet: TestWallet, more: object = {}): Promise<Response> {
  return fetch(`${platform.apiUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await signedInAt(platform.rootUrl, wallet)) },
    body: JSON.stringify({ ...HELLO, ...more }),
  });
}

/** The balance of a wallet, as returned by the platform. */
export async function balanceOf(platform: Platform, { wallet }: Buyer): Promise<number> {
  const headers = await signedInAt(platform.rootUrl, wallet);
  const response = await fetch(`${platform.apiUrl}/x402/balance/${wallet.address}`, { headers });
  const { data, ...rest } = (await response.json()) as { data?: { balanceUsd: number } };
  if (!data) throw new Error(`there is no balance: ${response.status} ${JSON.stringify(rest)}`);
  return data.balanceUsd;
}
