import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import { type ProblemCode, Problem } from '@svc/contracts/problems';
import { SOLANA_NETWORK, SOLANA_USDC, USDC_DECIMALS } from '@svc/contracts/money';
import { z } from 'zod';
import { type PaymentContent, type SolanaTransfer, checkAmount } from '../header/payment-header.js';
import {
  COMPUTE_BUDGET,
  MEMO_PROGRAM,
  type PlainMessage,
  TOKEN_PROGRAM,
  type WireTransfer,
  cosigned,
  decodeWire,
  messageHash,
  usdcAccount,
} from './transfer-wire.js';

const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/**
 * Programs allowed after the transfer: memos, and the assertions that wallets add to protect their owners.
 */
const BESIDE = new Set<string>([MEMO_PROGRAM, 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95']);

/**
 * The instructions of a payment: compute units, their price, the transfer, and some others. Source: the
 * scheme `exact` on Solana.
 */
const INSTRUCTIONS = { least: 3, most: 7 };

/** The first byte of an instruction is its kind. Source: the programs' interfaces. */
const UNITS = { kind: 2, bytes: 5 };
const PRICE = { kind: 3, bytes: 9 };
const TRANSFER_CHECKED = { kind: 12, bytes: 10, accounts: 4 };

/** The chain's fee per signature, and price units per lamport. */
const SIGNATURE_LAMPORTS = 5_000n;
const MICRO = 1_000_000n;

/** The fee payer and the payer; no other account may sign. */
const SIGNERS = 2;

/** DER prefix of a raw Ed25519 public key, as Node reads it. Source: RFC 8410. */
const KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const Payload = z.object({ transaction: z.string() });

export interface TransferTerms {
  readonly payTo: string;
  /** The USDC account of `payTo`. */
  readonly destination: string;
  /** The allowed fee payers; the first is offered. */
  readonly feePayers: readonly [string, ...string[]];
  readonly maxFeeLamports: number;
}

interface Instruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Buffer;
}

/** Reads a payment on Solana. Throws the codes of a faulty payment, with a message about what is wrong. */
export async function readTransfer(
  { terms, payload }: PaymentContent,
  wanted: TransferTerms,
): Promise<SolanaTransfer> {
  if (terms.asset !== undefined && terms.asset !== SOLANA_USDC) throw new Problem('UNSUPPORTED_TOKEN');
  if (terms.payTo !== undefined && terms.payTo !== wanted.payTo)
    throw new Problem('INVALID_PAYMENT_RECIPIENT');
  const read = Payload.safeParse(payload);
  if (!read.success) throw refused('the payload must have a `transaction`');
  const wire = decodeWire(read.data.transaction);
  if (!wire)
    throw refused(
      '`transaction` must be a transaction of version 0, encoded in base64, of at most 1,232 bytes',
    );
  const { compiled } = wire;
  checkSigners(compiled, wanted.feePayers);
  const instructions = instructionsOf(compiled);
  checkFee(instructions, wanted);
  const { source, destination, from, value } = transferOf(instructions[2]);
  checkBeside(instructions.slice(INSTRUCTIONS.least));
  if (compiled.staticAccounts[1] !== from)
    throw refused(
      'the authority of the transfer must be the only signer besides the fee payer',
      'INVALID_PAYMENT_PAYER',
    );
  checkAmount(value);
  const signature = signatureOf(wire, from);
  if (destination !== wanted.destination) throw new Problem('INVALID_PAYMENT_RECIPIENT');
  if (source !== (await usdcAccount(from)))
    throw refused(
      "the USDC must come from the signer's own associated token account",
      'INVALID_PAYMENT_PAYER',
    );
  return {
    network: SOLANA_NETWORK,
    asset: SOLANA_USDC,
    from,
    to: wanted.payTo,
    value,
    validAfter: 0n,
    validBefore: 0n,
    nonce: messageHash(wire),
    signature,
    wire: cosigned(wire, compiled.staticAccounts[0] ?? '', null),
  };
}

function checkSigners({ header, staticAccounts, ...rest }: PlainMessage, feePayers: readonly string[]): void {
  if ('addressTableLookups' in rest && (rest.addressTableLookups ?? []).length > 0)
    throw refused('address lookup tables are not allowed');
  if (new Set(staticAccounts).size !== staticAccounts.length) throw refused('an account is named twice');
  if (header.numSignerAccounts !== SIGNERS)
    throw refused('exactly two accounts must sign: the fee payer and the payer');
  if (!feePayers.includes(staticAccounts[0] ?? '')) throw refused(`the fee payer must be ${feePayers[0]}`);
}

function instructionsOf({ instructions, staticAccounts }: PlainMessage): readonly Instruction[] {
  const { least, most } = INSTRUCTIONS;
  if (instructions.length < least || instructions.length > most)
    throw refused(`a payment has ${least} to ${most} instructions`);
  return instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => {
    if (programAddressIndex === 0 || accountIndices.includes(0))
      throw refused('the fee payer must not be named in an instruction');
    const [program, ...accounts] = [programAddressIndex, ...accountIndices].map(
      (index) => staticAccounts[index],
    );
    if (program === undefined || accounts.includes(undefined))
      throw refused('an instruction names an account that the transaction does not list');
    return { program, accounts: accounts as string[], data: Buffer.from(data) };
  });
}

/** A payment must not cost the fee payer more than the operator allows. */
function checkFee([limit, price]: readonly Instruction[], { maxFeeLamports }: TransferTerms): void {
  const units = budgetOf(limit, UNITS)?.readUInt32LE(1);
  if (units === undefined) throw refused('the first instruction must be SetComputeUnitLimit');
  const microLamports = budgetOf(price, PRICE)?.readBigUInt64LE(1);
  if (microLamports === undefined) throw refused('the second instruction must be SetComputeUnitPrice');
  const lamports =
    BigInt(SIGNERS) * SIGNATURE_LAMPORTS + (BigInt(units) * microLamports + MICRO - 1n) / MICRO;
  if (lamports > BigInt(maxFeeLamports))
    throw refused(`its fee is ${lamports} lamports, and the limit is ${maxFeeLamports}`);
}

function budgetOf(instruction: Instruction | undefined, { kind, bytes }: typeof UNITS): Buffer | undefined {
  if (!instruction) return undefined;
  const { program, accounts, data } = instruction;
  const isBudget = program === COMPUTE_BUDGET && accounts.length === 0 && data.length === bytes;
  return isBudget && data[0] === kind ? data : undefined;
}

interface Transfer {
  readonly source: string;
  readonly destination: string;
  readonly from: string;
  readonly value: bigint;
}

function transferOf(instruction: Instruction | undefined): Transfer {
  const { program, accounts, data } = instruction ?? { program: '', accounts: [], data: Buffer.alloc(0) };
  if (program === TOKEN_2022)
    throw new Problem('UNSUPPORTED_TOKEN', { message: 'USDC is not a token of Token-2022.' });
  if (
    program !== TOKEN_PROGRAM ||
    data.length !== TRANSFER_CHECKED.bytes ||
    data[0] !== TRANSFER_CHECKED.kind
  )
    throw refused('the third instruction must be TransferChecked of the SPL token program');
  const [source, mint, destination, from] = accounts;
  if (accounts.length !== TRANSFER_CHECKED.accounts || !source || !destination || !from)
    throw refused('TransferChecked must have four accounts: source, mint, destination and authority');
  if (mint !== SOLANA_USDC) throw new Problem('UNSUPPORTED_TOKEN');
  if (data[9] !== USDC_DECIMALS) throw refused(`USDC has ${USDC_DECIMALS} decimals`);
  return { source, destination, from, value: data.readBigUInt64LE(1) };
}

function checkBeside(instructions: readonly Instruction[]): void {
  if (instructions.some(({ program }) => !BESIDE.has(program)))
    throw refused('after the transfer, only memos and assertions of Lighthouse are allowed');
}

/** Returns the payer's signature after verifying it. */
function signatureOf({ transaction, message }: WireTransfer, from: string): string {
  const signature = new Map(Object.entries(transaction.signatures)).get(from);
  if (!signature) throw refused('the payer has not signed', 'PAYMENT_VERIFICATION_FAILED');
  const key = Buffer.concat([KEY_PREFIX, base58.decode(from)]);
  const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
  if (!verify(null, message, publicKey, signature))
    throw refused("the payer's signature is wrong", 'PAYMENT_VERIFICATION_FAILED');
  return base58.encode(Uint8Array.from(signature));
}

function refused(reason: string, code: ProblemCode = 'INVALID_PAYMENT'): Problem {
  return new Problem(code, { message: `The payment is not a valid Solana payment: ${reason}.` });
}
