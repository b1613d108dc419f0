import { GENESIS_HASH, type RpcFamily, type RpcNetwork } from '@svc/contracts/catalog';

/** A call by which a node is checked. */
export interface NodeQuery<Value> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Reads its result; `undefined` if it is not one. */
  readonly read: (result: unknown) => Value | undefined;
}

function hash(result: unknown): string | undefined {
  return typeof result === 'string' && GENESIS_HASH.test(result) ? result : undefined;
}

function hexadecimal(result: unknown): bigint | undefined {
  return typeof result === 'string' && /^0x[0-9a-f]{1,64}$/i.test(result) ? BigInt(result) : undefined;
}

function blockNumber(result: unknown): number | undefined {
  const number = typeof result === 'number' ? result : Number(hexadecimal(result) ?? Number.NaN);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** What nodes call their chain, in the notation of `chainOf`. */
export const CHAIN_QUERIES: Readonly<Record<RpcFamily, NodeQuery<string>>> = {
  evm: { method: 'eth_chainId', params: [], read: (result) => hexadecimal(result)?.toString() },
  solana: { method: 'getGenesisHash', params: [], read: hash },
  starknet: { method: 'starknet_chainId', params: [], read: (result) => hexadecimal(result)?.toString() },
};

/** The latest block of a node, on Solana the latest slot. */
export const HEAD_QUERIES: Readonly<Record<RpcFamily, NodeQuery<number>>> = {
  evm: { method: 'eth_blockNumber', params: [], read: blockNumber },
  solana: { method: 'getSlot', params: [{ commitment: 'processed' }], read: blockNumber },
  starknet: { method: 'starknet_blockNumber', params: [], read: blockNumber },
};

/** The latest block of a node that cannot change any more. Nodes of Starknet have no number for it. */
export const FINALIZED_QUERIES: Readonly<Record<Exclude<RpcFamily, 'starknet'>, NodeQuery<number>>> = {
  evm: {
    method: 'eth_getBlockByNumber',
    params: ['finalized', false],
    read: (result) =>
      typeof result === 'object' && result !== null && 'number' in result
        ? blockNumber(result.number)
        : undefined,
  },
  solana: { method: 'getSlot', params: [{ commitment: 'finalized' }], read: blockNumber },
};

/** The chain that a network's nodes must have; `undefined` if the catalogue does not say. */
export function chainOf({ family, chainId }: Pick<RpcNetwork, 'family' | 'chainId'>): string | undefined {
  if (chainId === undefined) return undefined;
  return family === 'solana' ? String(chainId) : BigInt(chainId).toString();
}
