import { createHash } from 'node:crypto';
import { type Address, getAddressEncoder, getProgramDerivedAddress } from '@solana/addresses';
import {
  type CompiledTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/transaction-messages';
import { type Transaction, getTransactionDecoder, getTransactionEncoder } from '@solana/transactions';
import { SOLANA_USDC } from '@svc/contracts';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
const ACCOUNT_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

/** Bytes of a transaction, at most. Source: Solana's wire format. */
const WIRE_MOST = 1_232;

/** A message with all that it names in itself. */
export type PlainMessage = Extract<CompiledTransactionMessage, { version: 0 | 'legacy' }>;

/** A transaction taken apart. */
export interface WireTransfer {
  readonly transaction: Transaction;
  /** What is signed. */
  readonly message: Uint8Array;
  readonly compiled: PlainMessage;
  readonly blockhash: string;
}

/** Takes a transaction apart, in time that grows with its length. Nothing where it is none, or not written in the one way. */
export function decodeWire(base64: string): WireTransfer | undefined {
  if (base64.length > (WIRE_MOST * 4) / 3 + 4) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64 || bytes.length > WIRE_MOST) return undefined;
  try {
    const transaction = getTransactionDecoder().decode(bytes);
    if (!bytes.equals(Buffer.from(getTransactionEncoder().encode(transaction)))) return undefined;
    const message = Uint8Array.from(transaction.messageBytes);
    const compiled = getCompiledTransactionMessageDecoder().decode(message);
    // What is not written in the one way, or goes on after its end, is not read as another reads it.
    if (!Buffer.from(getCompiledTransactionMessageEncoder().encode(compiled)).equals(message))
      return undefined;
    if (compiled.version !== 0 && compiled.version !== 'legacy') return undefined;
    return { transaction, message, compiled, blockhash: compiled.lifetimeToken };
  } catch {
    return undefined;
  }
}

/** What a transaction is told apart by. */
export const messageHash = ({ message }: Pick<WireTransfer, 'message'>): string =>
  createHash('sha256').update(message).digest('hex');

/** The transaction with this signature in its place, and all that others have put there forgotten. */
export function cosigned(
  { transaction }: WireTransfer,
  signer: string,
  signature: Uint8Array | null,
): string {
  const signatures = { ...transaction.signatures, [signer]: signature as Transaction['signatures'][Address] };
  return Buffer.from(getTransactionEncoder().encode({ ...transaction, signatures })).toString('base64');
}

/** The account in which an address keeps its USDC. */
export async function usdcAccount(owner: string): Promise<Address> {
  const seeds = [owner, TOKEN_PROGRAM, SOLANA_USDC].map((seed) =>
    getAddressEncoder().encode(seed as Address),
  );
  const [account] = await getProgramDerivedAddress({ programAddress: ACCOUNT_PROGRAM, seeds });
  return account;
}
