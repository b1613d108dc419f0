/** The CAIP-2 id of Base. */
export const BASE_NETWORK = 'eip155:8453';

/** The CAIP-2 id of Solana mainnet. */
export const SOLANA_NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

/** USDC on Base. Source: Circle. */
export const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

/** USDC on Solana. Source: Circle. */
export const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** The EIP-712 domain that payments are signed with. Source: the contract of USDC on Base. */
export const USDC_EXTRA = { name: 'USD Coin', version: '2' } as const;

/** The smallest unit of USDC is a millionth of a dollar. */
export const USDC_DECIMALS = 6;

/** The limits of one top-up. Source: the public interface. */
export const TOP_UP_LEAST_USD = 5;
export const TOP_UP_MOST_USD = 10_000;

/** A wallet that can spend less than this is rejected. Source: the public interface. */
export const WALLET_FLOOR_NANO = 100_000_000n;
