import { type Hex, encodeFunctionData, parseAbi, parseAbiItem } from 'viem';
import type { Authorization } from '../header/payment-header.js';

export const USDC = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

export const TRANSFER = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);
export const USED = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
);
export const CANCELED = parseAbiItem(
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
);

export const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export function transferData(authorization: Authorization): Hex {
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization;
  return encodeFunctionData({
    abi: USDC,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  });
}

/** How far the clock of a client may be ahead of the chain's or ours. */
const CLOCKS_SECONDS = 60n;

/** A payment valid for longer is rejected: it could be kept open on purpose. Clients sign for minutes. */
const AHEAD_MOST_SECONDS = 3_600n + CLOCKS_SECONDS;

/** Whether an authorization becomes valid within a minute, or stays valid for too long. */
export type Timing = 'early' | 'far ahead' | 'usual';

/** Uses the later of the block's time and ours, because the chain may have had no block for long. */
export function timingOf({ validAfter, validBefore }: Authorization, blockSeconds: bigint): Timing {
  const ours = BigInt(Math.floor(Date.now() / 1_000));
  const now = ours > blockSeconds ? ours : blockSeconds;
  if (validBefore > now + AHEAD_MOST_SECONDS) return 'far ahead';
  // The contract demands that a block is later than `validAfter`.
  return validAfter >= blockSeconds && validAfter <= now + CLOCKS_SECONDS ? 'early' : 'usual';
}
