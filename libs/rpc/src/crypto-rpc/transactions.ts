import { base58, base64 } from '@scure/base';
import type { RpcFamily, RpcNetwork } from '@svc/contracts/catalog';
import { type EvmTransaction, readEvmTransaction } from './evm-transaction.js';

/** A transaction that a call sends. */
export interface SentTransaction {
  /**
   * Its hash, on Solana its first signature; `undefined` if only a node can say it: a hash of Starknet needs
   * the class of the account, and one of a user operation the contract that executes it.
   */
  readonly id: string | undefined;
}

/** A call that would send something that is not a transaction of its network. */
export class FaultyTransaction extends Error {
  constructor(
    message: string,
    /** Where in the parameters. */
    readonly path: readonly (string | number)[],
  ) {
    super(message);
  }
}

/** Finds out whether a chain has a transaction. */
export interface TransactionLookup {
  readonly method: string;
  /** The JSON text of the parameters. */
  readonly params: (id: string) => string;
  /** Whether the result of the call shows it. */
  readonly finds: (result: unknown) => boolean;
}

/** The methods that send. Source of their names: the documentation of the chains. */
const SENDING: Readonly<Record<RpcFamily, ReadonlySet<string>>> = {
  evm: new Set(['eth_sendRawTransaction', 'eth_sendUserOperation']),
  solana: new Set(['sendTransaction']),
  starknet: new Set([
    'starknet_addInvokeTransaction',
    'starknet_addDeclareTransaction',
    'starknet_addDeployAccountTransaction',
  ]),
};

const LOOKUPS: Readonly<Record<Exclude<RpcFamily, 'starknet'>, TransactionLookup>> = {
  evm: {
    method: 'eth_getTransactionByHash',
    params: (hash) => JSON.stringify([hash]),
    finds: (result) => typeof result === 'object' && result !== null,
  },
  solana: {
    method: 'getSignatureStatuses',
    params: (signature) => JSON.stringify([[signature], { searchTransactionHistory: true }]),
    finds: (result) =>
      typeof result === 'object' &&
      result !== null &&
      'value' in result &&
      Array.isArray(result.value) &&
      typeof result.value[0] === 'object' &&
      result.value[0] !== null,
  },
};

export const sends = (family: RpcFamily, method: string): boolean => SENDING[family].has(method);

/** `undefined` for families whose transactions have no id before they are sent. */
export const lookupOf = (family: RpcFamily): TransactionLookup | undefined =>
  family === 'starknet' ? undefined : LOOKUPS[family];

/** The transaction in the parameters of a method that sends. Throws FaultyTransaction. */
export function transactionOf(
  { family, chainId }: Pick<RpcNetwork, 'family' | 'chainId'>,
  method: string,
  params: unknown,
): SentTransaction {
  if (family === 'starknet' || method === 'eth_sendUserOperation') return { id: undefined };
  const [raw, options] = Array.isArray(params) ? (params as unknown[]) : [];
  if (typeof raw !== 'string') throw new FaultyTransaction('must be a signed transaction', [0]);
  if (family === 'solana') return { id: solanaSignature(raw, options) };
  const { hash, chainId: signedFor } = evmTransaction(raw);
  if (chainId !== undefined && signedFor !== undefined && BigInt(chainId) !== signedFor)
    throw new FaultyTransaction(`must be signed for chain ${chainId}, not ${signedFor}`, [0]);
  return { id: hash };
}

function evmTransaction(raw: string): EvmTransaction {
  const isHex = /^0x(?:[0-9a-f]{2})+$/i.test(raw);
  try {
    if (isHex) return readEvmTransaction(Buffer.from(raw.slice(2), 'hex'));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new FaultyTransaction('must be a signed transaction in hexadecimal, with the prefix 0x', [0]);
}

/** Nodes accept at most 1,232 bytes. Reading base58 takes quadratic time, so longer texts are not read. */
const SOLANA_CHARS = 2_048;
const SIGNATURE_BYTES = 64;

function solanaSignature(raw: string, options: unknown): string {
  const encoding =
    typeof options === 'object' && options !== null && 'encoding' in options ? options.encoding : 'base58';
  if (encoding !== 'base58' && encoding !== 'base64')
    throw new FaultyTransaction('must be base58 or base64', [1, 'encoding']);
  const bytes = raw.length > SOLANA_CHARS ? undefined : decoded(raw, encoding);
  // The number of signatures is below 128, which is one byte.
  if (!bytes || bytes[0] === 0 || bytes.length <= 1 + SIGNATURE_BYTES)
    throw new FaultyTransaction(`must be a signed transaction in ${encoding}`, [0]);
  return base58.encode(bytes.subarray(1, 1 + SIGNATURE_BYTES));
}

function decoded(text: string, encoding: 'base58' | 'base64'): Uint8Array | undefined {
  try {
    return (encoding === 'base58' ? base58 : base64).decode(text);
  } catch {
    return undefined;
  }
}
