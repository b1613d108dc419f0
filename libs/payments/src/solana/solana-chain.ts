import { SOLANA_USDC } from '@svc/contracts/money';
import { expiring } from '@svc/runtime';
import { z } from 'zod';
import {
  Chain,
  ChainAway,
  type Finality,
  type PaymentStatus,
  type SimulationOutcome,
} from '../chains/chain.js';
import type { SolanaTransfer } from '../header/payment-header.js';
import type { Payment } from '../records/payment.store.js';
import type { FeePayer } from './fee-payer.js';
import { SolanaRpc } from './solana-rpc.js';
import { TOKEN_PROGRAM, type WireTransfer, decodeWire, messageHash, usdcAccount } from './transfer-wire.js';

/** The genesis hash of mainnet. */
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKqqfExsnp9vj';

/** Offsets in a token account: its owner, amount and state. Source: the SPL token program. */
const ACCOUNT = { bytes: 165, owner: 32, amount: 64, state: 108, initialized: 1 };

/** Simulation errors that are the operator's fault, not the client's: the fee payer has no money. */
const OPERATORS_FAULTS = [
  'AccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'InsufficientFundsForRent',
];

/**
 * Page size and number of pages when listing a payer's transactions back to the payment; a page must fit into
 * a response.
 */
const PAGE = 500;
const PAGES_MOST = 20;

/** How many listed transactions are checked for one sent by a facilitator, and how many at once. */
const LOOKED_THROUGH = 400;
const LOOKED_AT_ONCE = 10;

/** A prepared transaction names a block of the last half of this time, unless the node fails. */
const BLOCKHASH_MS = 5_000;

/** A blockhash is valid for a limited number of slots, more if some are empty; this exceeds it. */
const BEFORE_SEEN = 1_000n;

export type Commitment = 'confirmed' | 'finalized';

const Slot = z.int().nonnegative().transform(BigInt);
const now = <Value extends z.ZodType>(value: Value) => z.object({ context: z.object({ slot: Slot }), value });

const Latest = z.object({ blockhash: z.string() });
const Account = z.object({ owner: z.string(), data: z.tuple([z.string(), z.literal('base64')]) }).nullable();
const Simulated = z.object({ err: z.unknown() });
const Status = z.object({
  err: z.unknown(),
  confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']),
});
const TokenBalance = z.object({
  accountIndex: z.int().nonnegative(),
  mint: z.string(),
  uiTokenAmount: z.object({
    amount: z
      .string()
      .regex(/^\d{1,20}$/)
      .transform(BigInt),
  }),
});
const Landed = z
  .object({
    transaction: z.tuple([z.string(), z.literal('base64')]),
    meta: z.object({
      err: z.unknown(),
      preTokenBalances: z.array(TokenBalance),
      postTokenBalances: z.array(TokenBalance),
    }),
  })
  .nullable();
const Signatures = z.array(z.object({ signature: z.string(), slot: Slot }));

export interface SolanaChainOptions {
  readonly rpcUrl: string;
  readonly payTo: string;
  readonly commitment: Commitment;
  readonly maxFeeLamports: number;
}

/** Solana, as seen by a node. Every method except `send` throws ChainAway if the node fails. */
export class SolanaChain extends Chain {
  /** Finalized blocks are never replaced. */
  override readonly mayReplace: boolean;
  private readonly rpc: SolanaRpc;
  private isChecked = false;

  /**
   * A block that a new transaction may name, of which a payer has about a minute to sign. However many ask,
   * the node is called once at a time, and not again for seconds.
   */
  readonly blockhash = expiring(async () => {
    const commitment = { commitment: 'confirmed' };
    const { value } = await this.rpc.call('getLatestBlockhash', [commitment], now(Latest));
    return { value: value.blockhash, lifetimeMs: BLOCKHASH_MS };
  });

  /**
   * With a fee payer of our own, the transaction id is known before sending; otherwise it is searched for.
   */
  constructor(
    private readonly options: SolanaChainOptions,
    private readonly feePayer: FeePayer | undefined,
  ) {
    super();
    this.mayReplace = options.commitment !== 'finalized';
    this.rpc = new SolanaRpc(options.rpcUrl);
  }

  override async head(): Promise<bigint> {
    if (!this.isChecked) await this.check();
    return this.rpc.call('getSlot', [{ commitment: 'processed' }], Slot);
  }

  override async headTime(): Promise<number> {
    const slot = await this.head();
    return this.rpc.call('getBlockTime', [Number(slot)], z.int());
  }

  /** How many payments an account can pay for with its SOL, if each costs the most that is accepted. */
  async affordableBy(address: string): Promise<number> {
    const { value } = await this.rpc.call('getBalance', [address], now(z.int().nonnegative()));
    return Math.floor(value / this.options.maxFeeLamports);
  }

  override async simulate({ wire }: SolanaTransfer): Promise<SimulationOutcome> {
    const { blockhash } = taken(wire);
    const options = { encoding: 'base64', sigVerify: false, commitment: 'processed' };
    const { value } = await this.rpc.call('simulateTransaction', [wire, options], now(Simulated));
    const { err } = value;
    if (err === null || err === undefined) return 'good';
    if (err === 'AlreadyProcessed') return 'spent';
    const name = typeof err === 'string' ? err : (Object.keys(err)[0] ?? '');
    if (name === 'BlockhashNotFound') return this.lateness(blockhash);
    if (OPERATORS_FAULTS.includes(name)) throw new ChainAway(`the fee payer cannot pay: ${name}`);
    return { bad: isShort(err) ? 'the payer has too little USDC' : JSON.stringify(err).slice(0, 200) };
  }

  override async statusOf(payment: Payment<SolanaTransfer>): Promise<PaymentStatus> {
    const signature = await this.signatureOf(payment);
    const status = signature === undefined ? undefined : (await this.status(signature)).status;
    if (signature === undefined || !status) return this.statusOfUnseen(payment, signature);
    const { err, confirmationStatus } = status;
    if (err !== null && err !== undefined) {
      if (confirmationStatus !== 'finalized') return { kind: 'unconfirmed' };
      return { kind: 'never', reason: `the chain refused it: ${JSON.stringify(err).slice(0, 200)}` };
    }
    const isSure = confirmationStatus === 'finalized' || confirmationStatus === this.options.commitment;
    return isSure ? this.paidStatus(signature, payment.authorization) : { kind: 'unconfirmed' };
  }

  /** Checks the given transaction before others. */
  override statusBy(payment: Payment<SolanaTransfer>, transaction: string): Promise<PaymentStatus> {
    return this.statusOf({ ...payment, transaction });
  }

  /**
   * A payment dropped with its block is gone once it can no longer be included; until then it is sent again.
   */
  override async finalityOf(payment: Payment<SolanaTransfer>): Promise<Finality> {
    const status = await this.statusOf(payment);
    switch (status.kind) {
      case 'paid':
        return { kind: 'there' };
      case 'never':
        return { kind: 'gone' };
      case 'unspent':
        await this.send(payment.authorization.wire);
        return { kind: 'unclear' };
      case 'unconfirmed':
      case 'unknown':
        return { kind: 'unclear' };
    }
  }

  /** Sends a transaction, possibly again. Only the chain's state tells whether it arrived. */
  async send(wire: string): Promise<void> {
    const options = { encoding: 'base64', skipPreflight: true };
    try {
      await this.rpc.call('sendTransaction', [wire, options], z.string());
    } catch {
      // Already known, too late, or not received: the chain's state will show it.
    }
  }

  /**
   * A payment that the node has not seen may still come until its blockhash is too old for the finalized
   * chain.
   */
  private async statusOfUnseen(
    { authorization, seenBlock }: Payment<SolanaTransfer>,
    signature: string | undefined,
  ): Promise<PaymentStatus> {
    const { blockhash } = taken(authorization.wire);
    const final = await this.rpc.call(
      'isBlockhashValid',
      [blockhash, { commitment: 'finalized' }],
      now(z.boolean()),
    );
    if (final.value || final.context.slot < seenBlock) return { kind: 'unspent' };
    // Only a query made after it was too late is certain, and only from a node that has progressed as far.
    const late = signature ?? (await this.search({ authorization, seenBlock }));
    if (late !== undefined) {
      const { slot, status } = await this.status(late);
      if (slot < final.context.slot) throw new ChainAway('the node reports an older slot than before');
      if (status || (await this.landed(late, 'finalized'))) return { kind: 'unconfirmed' };
    }
    if ((await this.rpc.call('getFirstAvailableBlock', [], Slot)) > seenBlock)
      return { kind: 'unknown', reason: 'the node no longer has the blocks that could contain it' };
    return { kind: 'never', reason: 'its blockhash has expired' };
  }

  /**
   * The transaction id of a payment, if known. A transaction named by a facilitator is checked before others.
   */
  private async signatureOf(payment: Payment<SolanaTransfer>): Promise<string | undefined> {
    const { authorization, transaction } = payment;
    const wire = taken(authorization.wire);
    const own = this.feePayer?.at(wire.compiled.staticAccounts[0]);
    if (own) return own.cosign(wire).signature;
    // An invalid transaction id is treated like any other lie.
    const isIt =
      transaction !== undefined &&
      (await this.hasMessage(transaction, authorization.nonce).catch(() => false));
    return isIt ? transaction : this.search(payment);
  }

  /** Searches the payer's transactions, from the oldest possible one, for one with the same message. */
  private async search({
    authorization: { from, nonce },
    seenBlock,
  }: Pick<Payment<SolanaTransfer>, 'authorization' | 'seenBlock'>): Promise<string | undefined> {
    const signatures = await this.signaturesSince(seenBlock - BEFORE_SEEN, await usdcAccount(from));
    for (let at = 0; at < signatures.length; at += LOOKED_AT_ONCE) {
      if (at >= LOOKED_THROUGH) throw new ChainAway('the payer has too many transactions to look through');
      const part = signatures.slice(at, at + LOOKED_AT_ONCE);
      const are = await Promise.all(part.map((signature) => this.hasMessage(signature, nonce)));
      const found = part[are.indexOf(true)];
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The ids of an account's transactions from a slot on, oldest first. */
  private async signaturesSince(slot: bigint, account: string): Promise<string[]> {
    const since: string[] = [];
    for (let page = 0; page < PAGES_MOST; page += 1) {
      const last = since.at(-1);
      const options = { limit: PAGE, commitment: 'confirmed', ...(last !== undefined && { before: last }) };
      const found = await this.rpc.call('getSignaturesForAddress', [account, options], Signatures);
      const recent = found.filter((each) => each.slot >= slot);
      since.push(...recent.map(({ signature }) => signature));
      if (found.length < PAGE || recent.length < found.length) return since.toReversed();
    }
    throw new ChainAway('the payer has made too many transactions since its payment');
  }

  private async hasMessage(signature: string, hash: string): Promise<boolean> {
    const landed = await this.landed(signature, 'confirmed');
    const wire = landed && decodeWire(landed.transaction[0]);
    return wire ? messageHash(wire) === hash : false;
  }

  private async status(signature: string): Promise<{ slot: bigint; status: z.infer<typeof Status> | null }> {
    const { context, value } = await this.rpc.call(
      'getSignatureStatuses',
      [[signature], { searchTransactionHistory: true }],
      now(z.tuple([Status.nullable()])),
    );
    return { slot: context.slot, status: value[0] };
  }

  private landed(signature: string, commitment: Commitment): Promise<z.infer<typeof Landed>> {
    const options = { encoding: 'base64', commitment, maxSupportedTransactionVersion: 0 };
    return this.rpc.call('getTransaction', [signature, options], Landed);
  }

  /** The status of a payment that the chain has, with the amount that reached the recipient's account. */
  private async paidStatus(signature: string, transfer: SolanaTransfer): Promise<PaymentStatus> {
    const landed = await this.landed(signature, this.options.commitment);
    if (!landed) return { kind: 'unconfirmed' };
    const shown = decodeWire(landed.transaction[0]);
    const { err, preTokenBalances: before, postTokenBalances: after } = landed.meta;
    if (!shown || messageHash(shown) !== transfer.nonce || (err !== null && err !== undefined))
      throw new ChainAway('the node returned a transaction other than the requested one');
    const destination = await usdcAccount(transfer.to);
    const index = shown.compiled.staticAccounts.indexOf(destination);
    const unitsIn = (balances: typeof before): bigint =>
      balances.find(({ accountIndex, mint }) => accountIndex === index && mint === SOLANA_USDC)?.uiTokenAmount
        .amount ?? 0n;
    const units = unitsIn(after) - unitsIn(before);
    // A USDC transfer brings exactly its amount. A node that shows anything else is not trusted.
    if (units !== transfer.value)
      throw new ChainAway('the node shows that the amount received differs from the amount sent');
    return { kind: 'paid', transaction: signature, units };
  }

  /** Whether a blockhash unknown to the node is too old, or the node is behind. */
  private async lateness(blockhash: string): Promise<SimulationOutcome> {
    await this.rpc.call('getHealth', [], z.literal('ok'));
    const known = await this.rpc.call(
      'isBlockhashValid',
      [blockhash, { commitment: 'processed' }],
      now(z.boolean()),
    );
    if (known.value) throw new ChainAway('the node contradicts itself about a blockhash');
    return { bad: 'its blockhash has expired or is not known yet. Sign a new payment' };
  }

  private async check(): Promise<void> {
    const genesis = await this.rpc.call('getGenesisHash', [], z.string());
    if (genesis !== GENESIS) throw new ChainAway('X402_SOLANA_RPC_URL is not a node of Solana mainnet');
    const { payTo } = this.options;
    const options = { encoding: 'base64', commitment: 'confirmed' };
    const { value } = await this.rpc.call(
      'getAccountInfo',
      [await usdcAccount(payTo), options],
      now(Account),
    );
    if (!value || !canReceive(value))
      throw new ChainAway('X402_SOLANA_PAY_TO has no USDC account that can receive');
    this.isChecked = true;
  }
}

const TokenError = z.object({ InstructionError: z.tuple([z.int(), z.object({ Custom: z.literal(1) })]) });

/** Whether the token program refuses a transfer for lack of money. Source: the SPL token program. */
const isShort = (error: unknown): boolean => TokenError.safeParse(error).success;

function canReceive({ owner, data: [base64] }: NonNullable<z.infer<typeof Account>>): boolean {
  const data = Buffer.from(base64, 'base64');
  return (
    owner === TOKEN_PROGRAM && data.length === ACCOUNT.bytes && data[ACCOUNT.state] === ACCOUNT.initialized
  );
}

/** Decodes a transaction that was decoded successfully before. */
function taken(wire: string): WireTransfer {
  const transfer = decodeWire(wire);
  if (!transfer) throw new Error('a stored transaction cannot be read');
  return transfer;
}
