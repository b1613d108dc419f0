import {
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
} from '@solana/addresses';
import { getCompiledTransactionMessageDecoder } from '@solana/transaction-messages';
import { type Transaction, getSignatureFromTransaction, getTransactionDecoder } from '@solana/transactions';
import type {
  FailedTransactionMetadata,
  LiteSVM,
  SimulatedTransactionInfo,
  TransactionMetadata,
} from 'litesvm';

const USDC = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const TOKEN_PROGRAM = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ACCOUNT_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

const DECIMALS = 6;

/** The number of blocks for which a transaction's blockhash is valid. */
const VALID_BLOCKS = 150;

const MUCH_SOL = 10_000_000_000n;

/** The sizes and field offsets of a mint and of a token account. Source: the SPL token program. */
const MINT = { bytes: 82, supply: 36, decimals: 44, isInitialized: 45 };
const ACCOUNT = { bytes: 165, owner: 32, amount: 64, state: 108 };

/** LiteSVM's numbered errors, by the names that nodes use. */
const FAULTS =
  `AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee
AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure
InvalidProgramForExecution SanitizeFailure`.split(/\s/);

const INSTRUCTION_FAULTS =
  `GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall
InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount`.split(
    /\s/,
  );

/** Errors on which a validator drops a transaction without a trace. */
const DROPPED = new Set(['BlockhashNotFound', 'SignatureFailure', 'SanitizeFailure', 'AccountNotFound']);

type Executed = TransactionMetadata | FailedTransactionMetadata;

/** An executed transaction, successful or not. */
export interface Landed {
  readonly signature: string;
  readonly wire: string;
  readonly accounts: readonly Address[];
  readonly slot: number;
  readonly error: unknown;
  /** The USDC balance of each account before and after. */
  readonly tokens: readonly { index: number; owner: Address; before: bigint; after: bigint }[];
}

/** Accounts and transactions of the local Solana. */
export class SolanaLedger {
  slot = 1_000;
  private hashedAt = this.slot;
  private readonly landed = new Map<string, Landed>();
  private readonly forgotten = new Map<string, Landed>();

  private constructor(private readonly svm: LiteSVM) {}

  static async open(): Promise<SolanaLedger> {
    const { LiteSVM } = await import('litesvm');
    const ledger = new SolanaLedger(new LiteSVM().withTransactionHistory(10_000n));
    ledger.putMint();
    return ledger;
  }

  get blockhash(): string {
    return this.svm.latestBlockhash();
  }

  get lastValidHeight(): number {
    return this.hashedAt + VALID_BLOCKS;
  }

  async mint(owner: string, units: bigint): Promise<void> {
    const before = await this.balanceOf(owner);
    const data = Buffer.alloc(ACCOUNT.bytes);
    data.set(getAddressEncoder().encode(USDC), 0);
    data.set(getAddressEncoder().encode(address(owner)), ACCOUNT.owner);
    data.writeBigUInt64LE(before + units, ACCOUNT.amount);
    data[ACCOUNT.state] = 1;
    this.put(await tokenAccount(owner), data);
  }

  fund(owner: string): void {
    this.svm.airdrop(address(owner), MUCH_SOL as Parameters<LiteSVM['airdrop']>[1]);
  }

  async balanceOf(owner: string): Promise<bigint> {
    return this.unitsOf(await tokenAccount(owner)) ?? 0n;
  }

  /** Removes the USDC account of an address. */
  async close(owner: string): Promise<void> {
    this.put(await tokenAccount(owner), new Uint8Array());
  }

  lamportsOf(of: Address): number {
    return Number(this.svm.getBalance(of) ?? 0n);
  }

  /** An account as nodes return it. */
  account(of: Address): unknown {
    const account = this.svm.getAccount(of);
    if (!account.exists) return null;
    const { data, programAddress, lamports, executable } = account;
    const base64 = Buffer.from(data).toString('base64');
    return {
      data: [base64, 'base64'],
      owner: programAddress,
      lamports: Number(lamports),
      executable,
      rentEpoch: 0,
      space: data.length,
    };
  }

  pass(blocks: number): void {
    this.slot += blocks;
    if (this.slot <= this.lastValidHeight) return;
    this.svm.expireBlockhash();
    this.hashedAt = this.slot;
  }

  simulate(wire: string, isVerified: boolean): unknown {
    this.svm.withSigverify(isVerified);
    try {
      const result: SimulatedTransactionInfo | FailedTransactionMetadata = this.svm.simulateTransaction(
        decoded(wire),
      );
      const error = 'err' in result ? faultOf(result) : null;
      return {
        err: error,
        logs: result.meta().logs(),
        unitsConsumed: Number(result.meta().computeUnitsConsumed()),
      };
    } finally {
      this.svm.withSigverify(true);
    }
  }

  /** Executes a transaction once, and returns its signature. */
  execute(wire: string): string {
    const transaction = decoded(wire);
    const signature = getSignatureFromTransaction(transaction);
    const known = this.landed.get(signature);
    if (known) return signature;
    if (this.forgotten.has(signature)) return this.landAgain(signature, transaction);
    const accounts = accountsOf(transaction);
    const before = accounts.map((each) => this.unitsOf(each));
    const error = faultOf(this.svm.sendTransaction(transaction));
    if (typeof error === 'string' && DROPPED.has(error)) return signature;
    this.slot += 1;
    const tokens = accounts.flatMap((each, index) => {
      const after = this.unitsOf(each);
      const units = before[index];
      return after === undefined || units === undefined
        ? []
        : [{ index, owner: this.ownerOf(each), before: units, after }];
    });
    this.landed.set(signature, { signature, wire, accounts, slot: this.slot, error, tokens });
    return signature;
  }

  signatureOf(wire: string): string {
    return getSignatureFromTransaction(decoded(wire));
  }

  find(signature: string): Landed | undefined {
    return this.landed.get(signature);
  }

  /** Newest first. */
  transactionsOf(of: string): Landed[] {
    return [...this.landed.values()]
      .filter(({ accounts }) => accounts.some((each) => each === of))
      .toReversed();
  }

  /** Reverts a transaction, as when its block is abandoned. */
  forget(signature: string): void {
    const landed = this.landed.get(signature);
    if (!landed) return;
    this.landed.delete(signature);
    this.forgotten.set(signature, landed);
    this.move(landed, -1n);
  }

  /**
   * Executes a reverted transaction again in another block, unless it has expired. LiteSVM executes nothing
   * twice.
   */
  private landAgain(signature: string, { messageBytes }: Transaction): string {
    const { lifetimeToken } = getCompiledTransactionMessageDecoder().decode(messageBytes);
    const before = this.forgotten.get(signature);
    if (!before || lifetimeToken !== this.blockhash) return signature;
    this.forgotten.delete(signature);
    this.slot += 1;
    this.move(before, 1n);
    this.landed.set(signature, { ...before, slot: this.slot });
    return signature;
  }

  /** Applies the transfers of a transaction, or reverts them. */
  private move({ tokens, accounts }: Landed, sign: 1n | -1n): void {
    for (const { index, before, after } of tokens) {
      const of = accounts[index];
      const account = of && this.svm.getAccount(of);
      if (!of || !account?.exists) continue;
      const data = Buffer.from(account.data);
      data.writeBigUInt64LE(data.readBigUInt64LE(ACCOUNT.amount) + sign * (after - before), ACCOUNT.amount);
      this.put(of, data);
    }
  }

  private putMint(): void {
    const data = Buffer.alloc(MINT.bytes);
    data.writeBigUInt64LE(10n ** 15n, MINT.supply);
    data[MINT.decimals] = DECIMALS;
    data[MINT.isInitialized] = 1;
    this.put(USDC, data);
  }

  private put(of: Address, data: Uint8Array): void {
    this.svm.setAccount({
      address: of,
      lamports: 1_000_000_000n as Parameters<LiteSVM['airdrop']>[1],
      data: new Uint8Array(data),
      programAddress: TOKEN_PROGRAM,
      executable: false,
      space: BigInt(data.length),
    });
  }

  /** The balance of a USDC account; `undefined` for any other account. */
  private unitsOf(of: Address): bigint | undefined {
    const data = this.tokenData(of);
    return data?.readBigUInt64LE(ACCOUNT.amount);
  }

  private ownerOf(of: Address): Address {
    const data = this.tokenData(of);
    return getAddressDecoder().decode(data?.subarray(ACCOUNT.owner, ACCOUNT.amount) ?? new Uint8Array(32));
  }

  private tokenData(of: Address): Buffer | undefined {
    const account = this.svm.getAccount(of);
    const isToken =
      account.exists && account.programAddress === TOKEN_PROGRAM && account.data.length === ACCOUNT.bytes;
    return isToken ? Buffer.from(account.data) : undefined;
  }
}

/** The address of an owner's USDC account. */
async function tokenAccount(owner: string): Promise<Address> {
  const seeds = [owner, TOKEN_PROGRAM, USDC].map((seed) => getAddressEncoder().encode(address(seed)));
  const [found] = await getProgramDerivedAddress({ programAddress: ACCOUNT_PROGRAM, seeds });
  return found;
}

/** A transaction as nodes return it. */
export function landedAs({ wire, slot, error, tokens }: Landed): object {
  const shown = (which: 'before' | 'after') =>
    tokens.map(({ index, owner, ...units }) => ({
      accountIndex: index,
      mint: USDC,
      owner,
      programId: TOKEN_PROGRAM,
      uiTokenAmount: { amount: String(units[which]), decimals: DECIMALS },
    }));
  return {
    slot,
    blockTime: null,
    version: 0,
    transaction: [wire, 'base64'],
    meta: { err: error, fee: 10_000, preTokenBalances: shown('before'), postTokenBalances: shown('after') },
  };
}

const decoded = (wire: string): Transaction => getTransactionDecoder().decode(Buffer.from(wire, 'base64'));

function accountsOf({ messageBytes }: Transaction): readonly Address[] {
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  return 'staticAccounts' in message ? message.staticAccounts : [];
}

/** Why a transaction failed, in the format of nodes; `null` if it succeeded. */
function faultOf(result: Executed): unknown {
  if (!('err' in result)) return null;
  const error: unknown = result.err();
  if (typeof error === 'number') return FAULTS[error] ?? `Fault${error}`;
  const { index, err, accountIndex } = error as {
    index?: number;
    err?: () => unknown;
    accountIndex?: number;
  };
  if (index === undefined) return { InsufficientFundsForRent: { account_index: accountIndex } };
  const cause = (error as { err(): unknown }).err();
  if (err === undefined) return { DuplicateInstruction: index };
  const { code } = cause as { code?: number };
  return {
    InstructionError: [
      index,
      typeof cause === 'number' ? (INSTRUCTION_FAULTS[cause] ?? 'GenericError') : { Custom: code },
    ],
  };
}
