import type { LocalChain } from '@svc/infra';
import { encodeFunctionData, parseAbi } from 'viem';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const TRANSFER = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** The payload of a payment. */
export interface Signed {
  readonly signature: `0x${string}`;
  readonly authorization: {
    readonly from: `0x${string}`;
    readonly to: `0x${string}`;
    readonly value: string;
    readonly validAfter: string;
    readonly validBefore: string;
    readonly nonce: `0x${string}`;
  };
}

const signedIn = (header: string): Signed =>
  (JSON.parse(Buffer.from(header, 'base64').toString()) as { payload: Signed }).payload;

/** Lets a third party settle a payment. Returns the transaction. */
export async function submit(chain: LocalChain, payment: string | Signed): Promise<string> {
  const { signature, authorization } = typeof payment === 'string' ? signedIn(payment) : payment;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const data = encodeFunctionData({
    abi: TRANSFER,
    functionName: 'transferWithAuthorization',
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
  });
  const [, stranger] = (await chain.call('eth_accounts', [])) as string[];
  return String(await chain.call('eth_sendTransaction', [{ from: stranger, to: USDC, data }]));
}
