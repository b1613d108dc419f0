import { type Log, parseEventLogs } from 'viem';
import type { Authorization } from '../header/payment-header.js';
import { USDC, USED, isSame } from './usdc.js';

/**
 * Blocks that nodes search for events at once. Also how far back a payment may have been settled by others:
 * some hours.
 */
export const BLOCKS_AT_ONCE = 9_000n;

/**
 * The blocks in which an authorization can have been used, in ranges that nodes can search: first the blocks
 * since its payment came, until it has expired, then those before.
 */
export function rangesAround(seenBlock: bigint, head: bigint): { fromBlock: bigint; toBlock: bigint }[] {
  const since = { fromBlock: seenBlock, toBlock: seenBlock + BLOCKS_AT_ONCE - 1n };
  const before = {
    fromBlock: seenBlock > BLOCKS_AT_ONCE ? seenBlock - BLOCKS_AT_ONCE : 0n,
    toBlock: seenBlock - 1n,
  };
  return [since, before]
    .map(({ fromBlock, toBlock }) => ({ fromBlock, toBlock: toBlock < head ? toBlock : head }))
    .filter(({ fromBlock, toBlock }) => fromBlock <= toBlock);
}

/**
 * The use of an authorization in the events of a transaction; `units` is what it paid, if to the named
 * recipient.
 */
export function useAmong(
  logs: Log[],
  { asset, from, to, nonce }: Authorization,
): { readonly units: bigint | undefined } | undefined {
  const used = parseEventLogs({ abi: [USED], logs, args: { authorizer: from } }).find(
    ({ address, args }) => isSame(address, asset) && isSame(args.nonce, nonce),
  );
  if (!used) return undefined;
  // The transfer of a use is the first one after it.
  const transfer = parseEventLogs({ abi: USDC, eventName: 'Transfer', logs })
    .filter(({ address, logIndex }) => isSame(address, asset) && logIndex > used.logIndex)
    .toSorted((a, b) => a.logIndex - b.logIndex)[0];
  const isOurs = transfer && isSame(transfer.args.from, from) && isSame(transfer.args.to, to);
  return { units: isOurs ? transfer.args.value : undefined };
}
