import { BaseError, ExecutionRevertedError } from 'viem';

/**
 * What a payment may take, in gas that our signer pays for. A transfer takes less than 100,000; the rest is for what a wallet
 * that is a contract does before it says yes, which is whatever its owner likes.
 */
export const MOST_GAS = 300_000n;

/** Nodes say so each in their own words. */
const OUT_OF_GAS = /out ?of ?gas|gas required exceeds/i;

/** Why the contract refused, where it was asked and did, or took too much gas. */
export function revertOf(error: unknown): string | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const reverted = error.walk((each) => each instanceof ExecutionRevertedError);
  if (reverted instanceof ExecutionRevertedError) return reverted.shortMessage.slice(0, 200);
  return OUT_OF_GAS.test(error.details) ? `it takes more than ${MOST_GAS} gas` : undefined;
}
