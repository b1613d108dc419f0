import { signal } from '@preact/signals';
import type { PaymentOption } from '@svc/api/wallets';

interface RequestedCall {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** What a wallet of a browser is called by; source: EIP-1193. */
interface EvmProvider {
  request(call: RequestedCall): Promise<unknown>;
}

/** A wallet that has announced itself; source: EIP-6963. */
export interface EvmWallet {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon: string };
  readonly provider: EvmProvider;
}

const isWallet = (value: unknown): value is EvmWallet =>
  typeof value === 'object' && value !== null && 'info' in value && 'provider' in value;

/** The wallets of this browser, in the order in which they announce themselves. */
export const evmWallets = signal<readonly EvmWallet[]>([]);

let isListening = false;

/** Asks the wallets to announce themselves. */
export function findEvmWallets(): void {
  if (!isListening) {
    addEventListener('eip6963:announceProvider', (event) => {
      const wallet: unknown = event instanceof CustomEvent ? event.detail : undefined;
      if (!isWallet(wallet)) return;
      const others = evmWallets.value.filter(({ info }) => info.uuid !== wallet.info.uuid);
      evmWallets.value = [...others, wallet];
    });
    isListening = true;
  }
  dispatchEvent(new Event('eip6963:requestProvider'));
}

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

const REFUSALS: Readonly<Record<number, string>> = {
  4001: 'You refused in the wallet. Nothing was changed.',
  4902: 'The wallet does not know the network. Add it in the wallet, and try again.',
  '-32002': 'The wallet is already open: finish there first.',
};

async function request(wallet: EvmWallet, call: RequestedCall): Promise<unknown> {
  try {
    return await wallet.provider.request(call);
  } catch (error) {
    const code = codeOf(error);
    const known = typeof code === 'number' ? REFUSALS[code] : undefined;
    throw new Error(known ?? 'The wallet did not do what it was asked for.', { cause: error });
  }
}

/** The address that the wallet gives to this page. */
export async function connectEvm(wallet: EvmWallet): Promise<string> {
  const accounts = await request(wallet, { method: 'eth_requestAccounts' });
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof first !== 'string') throw new Error('The wallet gave no address.');
  return first;
}

const hexOf = (text: string): string =>
  `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/** Signs a text as it is. */
export async function signText(wallet: EvmWallet, address: string, text: string): Promise<string> {
  return String(await request(wallet, { method: 'personal_sign', params: [hexOf(text), address] }));
}

const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];
const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];

/** The number of an EVM network in the form `eip155:8453`. */
const chainIdOf = (network: string): number => Number(/^eip155:(\d+)$/.exec(network)?.[1]);

/** The payment of an option as EIP-712, a transfer of ERC-3009 that the payee submits. */
function transferOf(option: PaymentOption, from: string) {
  const nonce = crypto.getRandomValues(new Uint8Array(32));
  const message = {
    from,
    to: option.payTo,
    value: option.amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1_000) + option.maxTimeoutSeconds),
    nonce: `0x${Array.from(nonce, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  };
  return {
    domain: {
      name: option.extra['name'],
      version: option.extra['version'],
      chainId: chainIdOf(option.network),
      verifyingContract: option.asset,
    },
    types: { EIP712Domain: DOMAIN, TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization',
    message,
  };
}

/** Signs the payment of an option: the payload of x402. */
export async function signTransfer(wallet: EvmWallet, from: string, option: PaymentOption): Promise<object> {
  const chainId = `0x${chainIdOf(option.network).toString(16)}`;
  await request(wallet, { method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  const transfer = transferOf(option, from);
  const signature = await request(wallet, {
    method: 'eth_signTypedData_v4',
    params: [from, JSON.stringify(transfer)],
  });
  return { signature, authorization: transfer.message };
}
