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
