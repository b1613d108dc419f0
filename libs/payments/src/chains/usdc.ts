import { BASE_USDC } from '@svc/contracts';
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
export const isUsdc = (address: string): boolean => isSame(address, BASE_USDC);

export function transferData(authorization: Authorization): Hex {
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization;
  return encodeFunctionData({
    abi: USDC,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  });
}
