import { address } from '@solana/addresses';
import {
  type CompiledTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/transaction-messages';
import { getTransactionDecoder } from '@solana/transactions';
import { type SolanaWallet, solanaWallet } from './wallets.js';

export type Body = Record<string, unknown>;

/** A writable copy of a message. */
export interface Message {
  version: number | 'legacy';
  header: {
    numSignerAccounts: number;
    numReadonlySignerAccounts: number;
    numReadonlyNonSignerAccounts: number;
  };
  staticAccounts: string[];
  lifetimeToken: string;
  instructions: Instruction[];
  addressTableLookups: unknown[];
}

interface Instruction {
  programAddressIndex: number;
  accountIndices: number[];
  data: Buffer;
}

/** A payment made by a client library, with its signer. */
export interface SignedTransfer {
  readonly header: string;
  readonly wallet: SolanaWallet;
}

const SYSTEM = '11111111111111111111111111111111';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const ACCOUNTS = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

export const contentOf = (header: string): Body =>
  JSON.parse(Buffer.from(header, 'base64').toString()) as Body;

export const wireOf = (header: string): Buffer =>
  Buffer.from((contentOf(header)['payload'] as { transaction: string }).transaction, 'base64');

/** The same payment with another payload. */
export const paying = ({ header }: SignedTransfer, payload: unknown): unknown => ({
  ...contentOf(header),
  payload,
});

/** The same payment with another message, signed again by the same wallet. */
export async function reformed(
  { header, wallet }: SignedTransfer,
  change: (message: Message) => void,
): Promise<unknown> {
  const { messageBytes } = getTransactionDecoder().decode(wireOf(header));
  const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes);
  const message = structuredClone(compiled) as unknown as Message;
  for (const each of message.instructions) {
    each.data = Buffer.from(each.data ?? []);
    each.accountIndices = [...(each.accountIndices ?? [])];
  }
  change(message);
  const bytes = getCompiledTransactionMessageEncoder().encode(
    message as unknown as CompiledTransactionMessage,
  );
  return paying({ header, wallet }, { transaction: await signedWire(Buffer.from(bytes), message, wallet) });
}

/** A transaction, signed by a wallet; the place of the fee payer's signature stays empty. */
export async function signedTransaction(wallet: SolanaWallet, transaction: string): Promise<string> {
  const { messageBytes } = getTransactionDecoder().decode(Buffer.from(transaction, 'base64'));
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes) as unknown as Message;
  return signedWire(Buffer.from(messageBytes), message, wallet);
}

async function signedWire(bytes: Buffer, message: Message, wallet: SolanaWallet): Promise<string> {
  const signer = wallet.signer as unknown as {
    signTransactions(all: { messageBytes: Uint8Array }[]): Promise<Record<string, Uint8Array>[]>;
  };
  const [signed] = await signer.signTransactions([{ messageBytes: bytes }]);
  const places = message.staticAccounts
    .slice(0, message.header.numSignerAccounts)
    .map((account) => Buffer.from(signed?.[account] ?? Buffer.alloc(64)));
  return Buffer.concat([Buffer.from([places.length]), ...places, bytes]).toString('base64');
}

/** Adds an account that does not sign, and returns its index. */
function add(message: Message, account: string): number {
  message.staticAccounts.push(account);
  message.header.numReadonlyNonSignerAccounts += 1;
  return message.staticAccounts.length - 1;
}

export const stranger = (): string => solanaWallet().address;

const instruction = (message: Message, index: number): Instruction => {
  const found = message.instructions[index];
  if (!found) throw new Error('there is no such instruction');
  return found;
};

const transferOf = (message: Message): Instruction => instruction(message, 2);

/** Changes the bytes of the third instruction: its type, amount, and decimals. */
const bytes = (change: (data: Buffer) => Buffer) => (message: Message) => {
  transferOf(message).data = change(transferOf(message).data);
};

const amount = (units: bigint) =>
  bytes((data) => {
    data.writeBigUInt64LE(units, 1);
    return data;
  });

/** Replaces an account of the third instruction. */
const account = (place: number, of: (message: Message) => number) => (message: Message) => {
  transferOf(message).accountIndices[place] = of(message);
};

const beside =
  (program: string, accounts: (message: Message) => number[], data: Buffer) => (message: Message) => {
    const programAddressIndex = add(message, program);
    message.instructions.push({ programAddressIndex, accountIndices: accounts(message), data });
  };

const budget = (index: number, data: Buffer) => (message: Message) => {
  instruction(message, index).data = data;
};

const price = (microLamports: bigint): Buffer => {
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(microLamports, 1);
  return data;
};

/** A thousandth of a SOL. */
const SYSTEM_TRANSFER = Buffer.from('0200000040420f0000000000', 'hex');

const memo = (message: Message): Instruction => instruction(message, 3);

/** Messages that no client library creates, with the code of their refusal. */
export const HOSTILE_MESSAGES: readonly (readonly [string, string, (message: Message) => void])[] = [
  ['of another mint', 'UNSUPPORTED_TOKEN', account(1, (message) => add(message, stranger()))],
  [
    'to an account of a stranger',
    'INVALID_PAYMENT_RECIPIENT',
    account(2, (message) => add(message, stranger())),
  ],
  [
    'back to the payer',
    'INVALID_PAYMENT_RECIPIENT',
    account(2, (message) => transferOf(message).accountIndices[0] ?? 0),
  ],
  ['to the address that is paid and no account of it', 'INVALID_PAYMENT_RECIPIENT', account(2, () => 1)],
  [
    'from an account of a stranger',
    'INVALID_PAYMENT_PAYER',
    account(0, (message) => add(message, stranger())),
  ],
  [
    'from the account that is paid',
    'INVALID_PAYMENT_PAYER',
    account(0, (message) => transferOf(message).accountIndices[2] ?? 0),
  ],
  ['from the fee payer', 'INVALID_PAYMENT', account(0, () => 0)],
  ['by authority of the fee payer', 'INVALID_PAYMENT', account(3, () => 0)],
  [
    'by authority of somebody who does not sign',
    'INVALID_PAYMENT_PAYER',
    account(3, (message) => add(message, stranger())),
  ],
  ['with a mint that is the fee payer', 'INVALID_PAYMENT', account(1, () => 0)],
  ['to the fee payer', 'INVALID_PAYMENT', account(2, () => 0)],
  [
    'with the fee payer as a fifth account',
    'INVALID_PAYMENT',
    (message) => transferOf(message).accountIndices.push(0),
  ],
  ['with a signer of a multisig', 'INVALID_PAYMENT', (message) => transferOf(message).accountIndices.push(1)],
  ['with three accounts', 'INVALID_PAYMENT', (message) => transferOf(message).accountIndices.pop()],
  ['without accounts', 'INVALID_PAYMENT', (message) => transferOf(message).accountIndices.splice(0)],
  ['with an account that is not there', 'INVALID_PAYMENT', account(2, () => 200)],
  [
    'of Token-2022',
    'UNSUPPORTED_TOKEN',
    (message) => (transferOf(message).programAddressIndex = add(message, TOKEN_2022)),
  ],
  [
    'by the system program',
    'INVALID_PAYMENT',
    (message) => (transferOf(message).programAddressIndex = add(message, SYSTEM)),
  ],
  [
    'by a program that is the fee payer',
    'INVALID_PAYMENT',
    (message) => (transferOf(message).programAddressIndex = 0),
  ],
  [
    'by a program that is not there',
    'INVALID_PAYMENT',
    (message) => (transferOf(message).programAddressIndex = 99),
  ],
  ...[3, 4, 6, 7, 8, 9, 13, 14, 15].map(
    (kind) =>
      [
        `whose instruction is number ${kind} of the token program`,
        'INVALID_PAYMENT',
        bytes((data) => Buffer.concat([Buffer.from([kind]), data.subarray(1)])),
      ] as const,
  ),
  [
    'with 5 decimals',
    'INVALID_PAYMENT',
    bytes((data) => Buffer.concat([data.subarray(0, 9), Buffer.from([5])])),
  ],
  [
    'with 9 decimals',
    'INVALID_PAYMENT',
    bytes((data) => Buffer.concat([data.subarray(0, 9), Buffer.from([9])])),
  ],
  ['with a byte too many', 'INVALID_PAYMENT', bytes((data) => Buffer.concat([data, Buffer.alloc(1)]))],
  ['with a byte too few', 'INVALID_PAYMENT', bytes((data) => data.subarray(0, 9))],
  ['with no bytes', 'INVALID_PAYMENT', bytes(() => Buffer.alloc(0))],
  ['of nothing', 'AMOUNT_TOO_LOW', amount(0n)],
  ['of a little less than 5 USDC', 'AMOUNT_TOO_LOW', amount(4_999_999n)],
  ['of a little more than 10,000 USDC', 'AMOUNT_TOO_HIGH', amount(10_000_000_001n)],
  ['of all that can be written', 'INVALID_AMOUNT', amount(2n ** 64n - 1n)],
  ['without a limit', 'INVALID_PAYMENT', (message) => message.instructions.splice(0, 1)],
  ['without a price', 'INVALID_PAYMENT', (message) => message.instructions.splice(1, 1)],
  [
    'with limit and price in the other order',
    'INVALID_PAYMENT',
    (message) => message.instructions.splice(0, 2, ...message.instructions.slice(0, 2).toReversed()),
  ],
  ['with a heap in place of a limit', 'INVALID_PAYMENT', budget(0, Buffer.from('0100000400', 'hex'))],
  ['with a limit that is cut', 'INVALID_PAYMENT', budget(0, Buffer.from('0240', 'hex'))],
  ['with a price that is cut', 'INVALID_PAYMENT', budget(1, Buffer.from('0340', 'hex'))],
  ['with the highest price', 'INVALID_PAYMENT', budget(1, price(2n ** 64n - 1n))],
  ['with a price of a dollar', 'INVALID_PAYMENT', budget(1, price(250_000_000n))],
  [
    'with an account in its limit',
    'INVALID_PAYMENT',
    (message) => instruction(message, 0).accountIndices.push(1),
  ],
  ['with two instructions', 'INVALID_PAYMENT', (message) => message.instructions.splice(2)],
  [
    'with eight instructions',
    'INVALID_PAYMENT',
    (message) => message.instructions.push(...Array.from({ length: 4 }, () => memo(message))),
  ],
  [
    'with its memo first',
    'INVALID_PAYMENT',
    (message) => message.instructions.unshift(...message.instructions.splice(3, 1)),
  ],
  [
    'with a memo that the fee payer is to sign',
    'INVALID_PAYMENT',
    (message) => memo(message).accountIndices.push(0),
  ],
  [
    'with an assertion about the fee payer',
    'INVALID_PAYMENT',
    beside(LIGHTHOUSE, () => [0], Buffer.from([5])),
  ],
  ['with a second transfer', 'INVALID_PAYMENT', (message) => message.instructions.push(transferOf(message))],
  ['with SOL of the fee payer', 'INVALID_PAYMENT', beside(SYSTEM, () => [0, 1], SYSTEM_TRANSFER)],
  ['with SOL of the payer', 'INVALID_PAYMENT', beside(SYSTEM, () => [1, 2], SYSTEM_TRANSFER)],
  ['with an account that is made', 'INVALID_PAYMENT', beside(ACCOUNTS, () => [1, 2, 3], Buffer.from([1]))],
  ['with a program that nobody knows', 'INVALID_PAYMENT', beside(stranger(), () => [1], Buffer.alloc(4))],
  [
    'with a nonce that does not expire',
    'INVALID_PAYMENT',
    (message) =>
      message.instructions.unshift({
        programAddressIndex: add(message, SYSTEM),
        accountIndices: [2, 3, 1],
        data: Buffer.from('04000000', 'hex'),
      }),
  ],
  ['whose fee another pays', 'INVALID_PAYMENT', (message) => (message.staticAccounts[0] = stranger())],
  ['that three have to sign', 'INVALID_PAYMENT', (message) => (message.header.numSignerAccounts = 3)],
  ['that one has to sign', 'INVALID_PAYMENT', (message) => (message.header.numSignerAccounts = 1)],
  ['that nobody has to sign', 'INVALID_PAYMENT', (message) => (message.header.numSignerAccounts = 0)],
  [
    'that another has to sign',
    'INVALID_PAYMENT_PAYER',
    (message) => {
      const [payer] = message.staticAccounts.splice(1, 1, stranger());
      transferOf(message).accountIndices[3] = add(message, String(payer));
    },
  ],
  [
    'that names an account twice',
    'INVALID_PAYMENT',
    (message) => void add(message, String(message.staticAccounts[0])),
  ],
  [
    'that looks accounts up in a table',
    'INVALID_PAYMENT',
    (message) =>
      (message.addressTableLookups = [
        { lookupTableAddress: address(stranger()), readonlyIndexes: [0], writableIndexes: [1] },
      ]),
  ],
  [
    'with a blockhash that never was',
    'PAYMENT_VERIFICATION_FAILED',
    (message) => (message.lifetimeToken = stranger()),
  ],
];
