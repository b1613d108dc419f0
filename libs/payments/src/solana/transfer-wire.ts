import { createHash } from 'node:crypto';
import { type Address, getAddressEncoder, getProgramDerivedAddress } from '@solana/addresses';
import {
  type CompiledTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/transaction-messages';
import { type Transaction, getTransactionDecoder, getTransactionEncoder } from '@solana/transactions';
import { SOLANA_USDC } from '@svc/contracts/money';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
export const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111' as Address;
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address;
const ACCOUNT_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

/** Maximum bytes of a transaction. Source: Solana's wire format. */
const WIRE_MOST = 1_232;

/** A message without address lookup tables. */
export type PlainMessage = Extract<CompiledTransactionMessage, { version: 0 | 'legacy' }>;

/** A decoded transaction. */
export interface WireTransfer {
  readonly transaction: Transaction;
  /** The signed bytes. */
  readonly message: Uint8Array;
  readonly compiled: PlainMessage;
  readonly blockhash: string;
}

/**
 * Decodes a transaction, in time linear in its length. Undefined if it is invalid or not canonically encoded.
 */
export function decodeWire(base64: string): WireTransfer | undefined {
  if (base64.length > (WIRE_MOST * 4) / 3 + 4) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64 || bytes.length > WIRE_MOST) return undefined;
  try {
    const transaction = getTransactionDecoder().decode(bytes);
    if (!bytes.equals(Buffer.from(getTransactionEncoder().encode(transaction)))) return undefined;
    const message = Uint8Array.from(transaction.messageBytes);
    const compiled = getCompiledTransactionMessageDecoder().decode(message);
    // Other programs might read a non-canonical encoding, or trailing bytes, differently.
    if (!Buffer.from(getCompiledTransactionMessageEncoder().encode(compiled)).equals(message))
      return undefined;
    if (compiled.version !== 0 && compiled.version !== 'legacy') return undefined;
    return { transaction, message, compiled, blockhash: compiled.lifetimeToken };
  } catch {
    return undefined;
  }
}

/** The identity of a transaction. */
export const messageHash = ({ message }: Pick<WireTransfer, 'message'>): string =>
  createHash('sha256').update(message).digest('hex');

/** Adds this signature to the transaction, replacing any other in its place. */
export function cosigned(
  { transaction }: WireTransfer,
  signer: string,
  signature: Uint8Array | null,
): string {
  const signatures = { ...transaction.signatures, [signer]: signature as Transaction['signatures'][Address] };
  return Buffer.from(getTransactionEncoder().encode({ ...transaction, signatures })).toString('base64');
}

/** The USDC account of an address. */
export async function usdcAccount(owner: string): Promise<Address> {
  const seeds = [owner, TOKEN_PROGRAM, SOLANA_USDC].map((seed) =>
    getAddressEncoder().encode(seed as Address),
  );
  const [account] = await getProgramDerivedAddress({ programAddress: ACCOUNT_PROGRAM, seeds });
  return account;
}
