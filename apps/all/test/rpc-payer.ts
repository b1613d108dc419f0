import type { LocalChain } from '@svc/infra';
import { type Hex, keccak256 } from 'viem';
import type { Platform, TestAccount } from './platform.js';
import type { SentCall } from './scripted-node.js';
import { evmWallet } from './wallets.js';

const CREDIT_NANO = 700;
export const RECIPIENT = '0x00000000000000000000000000000000000000aa';

/** How a request is sent: by which account, with which Idempotency-Key, to which gateway. */
export interface Posting extends Pick<RequestInit, 'signal'> {
  readonly by?: Pick<TestAccount, 'apiKey'>;
  readonly key?: string;
  readonly to?: string;
}

export function postRpc(
  platform: Platform,
  {
    network,
    by,
    key,
    to = platform.apiUrl,
    signal = null,
  }: Posting & Required<Pick<Posting, 'by'>> & { readonly network: string },
  body: unknown,
): Promise<Response> {
  return fetch(`${to}/crypto/rpc/${network}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${by.apiKey}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  });
}

export const creditsOf = ({ headers }: Response): number => Number(headers.get('x-svc-rpc-credits'));

export const sending = (raw: string, id = 1): object => ({
  id,
  method: 'eth_sendRawTransaction',
  params: [raw],
});

export interface SignedTransfer {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly from: string;
}

/** The first transaction of a new wallet that can pay for it. */
export async function signedTransfer(
  chain: Pick<LocalChain, 'fund'>,
  over: { readonly chainId?: number; readonly value?: bigint } = {},
): Promise<SignedTransfer> {
  const wallet = evmWallet();
  await chain.fund(wallet.address);
  const raw = await wallet.account.signTransaction({
    chainId: 8_453,
    to: RECIPIENT,
    value: 1n,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 1n,
    ...over,
  });
  return { raw, hash: keccak256(raw), from: wallet.address };
}

/** How many transactions of an address the chain has executed. */
export async function countOn(chain: LocalChain, address: string): Promise<number> {
  // The chain accepts a transaction before the block that has it.
  await chain.call('evm_mine', []);
  return Number(await chain.call('eth_getTransactionCount', [address, 'latest']));
}

/** Passes a call on to the chain, and returns its response. */
export async function passedOn(chain: LocalChain, call: SentCall | undefined): Promise<{ body: string }> {
  const response = await fetch(chain.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
  return { body: await response.text() };
}

/** A new account with 1.00 USD, and the credits that it was charged. */
export async function rpcPayer(
  platform: Platform,
): Promise<TestAccount & { readonly charged: () => Promise<number> }> {
  const own = await platform.account('1.00');
  const charged = async (): Promise<number> =>
    Math.round((1e9 - Number((await platform.balances(own.id)).usd) * 1e9) / CREDIT_NANO);
  return { ...own, charged };
}
