import { rpcError } from './node-outcomes.js';

/** The methods whose work grows with the number of blocks, and their filters' members. */
const RANGED: ReadonlySet<string> = new Set(['eth_getLogs', 'trace_filter']);

const INVALID_PARAMS = -32_602;

/** A call with a filter, as it is passed on. */
interface FilterCall {
  /** The JSON text of the parameters as they were read, so that a node cannot read another range. */
  readonly params: string | undefined;
  /** The JSON text of an error, if the call has too many blocks. */
  readonly refusal?: string;
}

/** Checks the blocks of a filter. Only a node knows the number of a tag such as `latest`. */
export function checkedRange(
  method: string,
  params: string | undefined,
  maxLogBlocks: number | undefined,
): FilterCall {
  if (params === undefined || !RANGED.has(method)) return { params };
  const read: unknown = JSON.parse(params);
  const passed = { params: JSON.stringify(read) };
  const [filter] = Array.isArray(read) ? (read as unknown[]) : [];
  if (typeof filter !== 'object' || filter === null) return passed;
  const { fromBlock, toBlock } = filter as Readonly<Record<string, unknown>>;
  const [from, to] = [numberOf(fromBlock), numberOf(toBlock)];
  if (maxLogBlocks === undefined || from === undefined || to === undefined) return passed;
  if (to - from < BigInt(maxLogBlocks)) return passed;
  const last = from + BigInt(maxLogBlocks) - 1n;
  const range = `[0x${from.toString(16)}, 0x${last.toString(16)}]`;
  const message = `${method} covers at most ${maxLogBlocks} blocks. This range would do: ${range}. Not charged.`;
  return { ...passed, refusal: rpcError(INVALID_PARAMS, message) };
}

/** Nodes read both notations. */
function numberOf(block: unknown): bigint | undefined {
  if (typeof block === 'number' && Number.isSafeInteger(block) && block >= 0) return BigInt(block);
  return typeof block === 'string' && /^0x[0-9a-f]{1,16}$/i.test(block) ? BigInt(block) : undefined;
}
