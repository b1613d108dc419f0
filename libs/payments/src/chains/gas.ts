import { BaseError, ExecutionRevertedError } from 'viem';

export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Nodes accept a replacement transaction for a tenth more. */
export function higher(now: Fees, before?: Partial<Fees>): Fees {
  const raised = (nano = 0n, least = 0n): bigint => {
    const more = (nano * 9n) / 8n + 1n;
    return before && more > least ? more : least;
  };
  return {
    maxFeePerGas: raised(before?.maxFeePerGas, now.maxFeePerGas),
    maxPriorityFeePerGas: raised(before?.maxPriorityFeePerGas, now.maxPriorityFeePerGas),
  };
}

/**
 * Maximum gas of a payment, which our signer pays for. A transfer uses less than 100,000; the rest is for a
 * contract wallet's signature check, which may do anything.
 */
export const MOST_GAS = 300_000n;

/** Each node has its own wording. */
const OUT_OF_GAS = /out ?of ?gas|gas required exceeds/i;

/** Why the contract reverted or ran out of gas; undefined for any other error. */
export function revertOf(error: unknown): string | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const reverted = error.walk((each) => each instanceof ExecutionRevertedError);
  if (reverted instanceof ExecutionRevertedError) return reverted.shortMessage.slice(0, 200);
  return OUT_OF_GAS.test(error.details) ? `it takes more than ${MOST_GAS} gas` : undefined;
}
