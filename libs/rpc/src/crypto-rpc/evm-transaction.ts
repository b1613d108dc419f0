import { keccak_256 } from '@noble/hashes/sha3.js';

/** A signed transaction of an EVM chain. */
export interface EvmTransaction {
  readonly hash: string;
  /** `undefined` for one that is valid on every chain, or of a type of which only its chain knows more. */
  readonly chainId: bigint | undefined;
}

/** The types whose first member is the id of the chain. Source: EIP-2930, EIP-1559, EIP-4844, EIP-7702. */
const TYPES_WITH_CHAIN: ReadonlySet<number> = new Set([1, 2, 3, 4]);
const BLOB_TYPE = 3;
const LAST_TYPE = 0x7f;
const FIRST_LIST = 0xc0;

/** The place of `v` in a transaction without a type, and the least that has a chain. Source: EIP-155. */
const V = 6;
const LEAST_V = 35n;

/** Throws a RangeError if these bytes are not a transaction. */
export function readEvmTransaction(raw: Uint8Array): EvmTransaction {
  const [type = 0] = raw;
  if (type >= FIRST_LIST) {
    const v = numberOf(raw, memberOf(raw, wholeList(raw, 0), V));
    return { hash: hashOf(raw), chainId: v < LEAST_V ? undefined : (v - LEAST_V) / 2n };
  }
  if (type > LAST_TYPE || raw.length < 2) throw new RangeError('neither a type nor a list');
  if (!TYPES_WITH_CHAIN.has(type)) return { hash: hashOf(raw), chainId: undefined };
  const list = wholeList(raw, 1);
  const first = memberOf(raw, list, 0);
  if (type !== BLOB_TYPE || !first.isList) return { hash: hashOf(raw), chainId: numberOf(raw, first) };
  // Sent together with its blobs, which are not part of what is hashed.
  const signed = Buffer.concat([raw.subarray(0, 1), raw.subarray(first.start, first.end)]);
  return { hash: hashOf(signed), chainId: numberOf(raw, memberOf(raw, first, 0)) };
}

/** An item of RLP: where its head, its content and the next item begin. */
interface Item {
  readonly isList: boolean;
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

const SHORT = 55;
const LENGTH_BYTES = 4;
const NUMBER_BYTES = 32;

function itemAt(bytes: Uint8Array, start: number): Item {
  const head = bytes[start];
  if (head === undefined) throw new RangeError('an item is missing');
  if (head < 0x80) return { isList: false, start, from: start, end: start + 1 };
  const isList = head >= FIRST_LIST;
  const size = head - (isList ? FIRST_LIST : 0x80);
  const lengthBytes = Math.max(0, size - SHORT);
  if (lengthBytes > LENGTH_BYTES) throw new RangeError('an item is too long');
  const from = start + 1 + lengthBytes;
  let length = size;
  if (lengthBytes > 0) length = bytes.subarray(start + 1, from).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = from + length;
  if (end > bytes.length) throw new RangeError('an item is cut off');
  return { isList, start, from, end };
}

/** The list that takes all bytes from here. */
function wholeList(bytes: Uint8Array, start: number): Item {
  const list = itemAt(bytes, start);
  if (!list.isList || list.end !== bytes.length) throw new RangeError('not one list');
  return list;
}

function memberOf(bytes: Uint8Array, list: Item, index: number): Item {
  let at = list.from;
  for (let left = index; left > 0; left -= 1) at = itemAt(bytes, at).end;
  const member = itemAt(bytes, at);
  if (member.end > list.end) throw new RangeError('a member is missing');
  return member;
}

function numberOf(bytes: Uint8Array, { isList, from, end }: Item): bigint {
  if (isList || end - from > NUMBER_BYTES) throw new RangeError('not a number');
  return BigInt(`0x0${Buffer.from(bytes.subarray(from, end)).toString('hex')}`);
}

const hashOf = (bytes: Uint8Array): string => `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;
