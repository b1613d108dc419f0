import type { Address } from 'viem';

/** Which chain it is, and its USDC. */
export interface EvmTerms {
  /** The name of its rail. */
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  readonly asset: Address;
  /** The prefix of its settings. */
  readonly prefix: string;
}

export interface EvmChainOptions {
  readonly terms: EvmTerms;
  readonly rpcUrl: string;
  readonly confirmations: number;
  readonly maxFeeGwei: number;
}
