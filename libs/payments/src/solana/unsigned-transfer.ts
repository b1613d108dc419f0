import { randomBytes } from 'node:crypto';
import { type Address, isAddress } from '@solana/addresses';
import {
  type CompiledTransactionMessage,
  getCompiledTransactionMessageEncoder,
} from '@solana/transaction-messages';
import { type TransactionMessageBytes, getBase64EncodedWireTransaction } from '@solana/transactions';
import { SOLANA_USDC, USDC_DECIMALS } from '@svc/contracts/money';
import type { WantedTransfer } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { COMPUTE_BUDGET, MEMO_PROGRAM, TOKEN_PROGRAM, usdcAccount } from './transfer-wire.js';

/** More than a transfer, its memo and the assertions of wallets need. Their fee is below a signature's. */
const COMPUTE_UNITS = 60_000;
const MICRO_LAMPORTS = 10_000n;

const NANO_PER_UNIT = 1_000n;

/** Makes two payments of the same amount in the same block different. */
const MEMO_BYTES = 16;

interface TransferParts {
  readonly feePayer: string;
  /** The USDC account that is paid. */
  readonly destination: string;
  readonly blockhash: string;
}

/** A payment as `readTransfer` takes it, but without signatures, in base64. */
export async function unsignedTransfer(
  { payer, usdNano }: WantedTransfer,
  { feePayer, destination, blockhash }: TransferParts,
): Promise<string> {
  if (!isAddress(payer)) throw refused('`payer` must be the address of a wallet on Solana.');
  const source = await usdcAccount(payer);
  const signers = [feePayer, payer];
  const writable = [source, destination];
  const read = [SOLANA_USDC, TOKEN_PROGRAM, COMPUTE_BUDGET, MEMO_PROGRAM];
  const staticAccounts = [...signers, ...writable, ...read] as Address[];
  if (new Set(staticAccounts).size !== staticAccounts.length)
    throw refused('`payer` must be another wallet than the one that is paid.');
  const at = (account: string): number => staticAccounts.indexOf(account as Address);
  const message: CompiledTransactionMessage & { lifetimeToken: string } = {
    version: 0,
    header: {
      numSignerAccounts: signers.length,
      numReadonlySignerAccounts: 1,
      numReadonlyNonSignerAccounts: read.length,
    },
    staticAccounts,
    lifetimeToken: blockhash,
    instructions: [
      { programAddressIndex: at(COMPUTE_BUDGET), data: unitLimit() },
      { programAddressIndex: at(COMPUTE_BUDGET), data: unitPrice() },
      {
        programAddressIndex: at(TOKEN_PROGRAM),
        accountIndices: [source, SOLANA_USDC, destination, payer].map(at),
        data: transferChecked(usdNano / NANO_PER_UNIT),
      },
      {
        programAddressIndex: at(MEMO_PROGRAM),
        data: Buffer.from(randomBytes(MEMO_BYTES).toString('hex')),
      },
    ],
  };
  const messageBytes = getCompiledTransactionMessageEncoder().encode(message) as TransactionMessageBytes;
  return getBase64EncodedWireTransaction({ messageBytes, signatures: { [feePayer]: null, [payer]: null } });
}

/** The first byte of each is the kind of the instruction. Source: the programs' interfaces. */
function unitLimit(): Buffer {
  const data = Buffer.alloc(5, 2);
  data.writeUInt32LE(COMPUTE_UNITS, 1);
  return data;
}

function unitPrice(): Buffer {
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(MICRO_LAMPORTS, 1);
  return data;
}

function transferChecked(units: bigint): Buffer {
  const data = Buffer.alloc(10, 12);
  data.writeBigUInt64LE(units, 1);
  data.writeUInt8(USDC_DECIMALS, 9);
  return data;
}

const refused = (message: string): Problem => new Problem('INVALID_PAYMENT_PAYER', { message });
