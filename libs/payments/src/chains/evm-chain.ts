import type { SignedText } from '@svc/contracts/ports';
import {
  type Address,
  BaseError,
  type Hash,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  createPublicClient,
  defineChain,
  http,
  keccak256,
  parseTransaction,
  zeroHash,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Authorization } from '../header/payment-header.js';
import type { Payment } from '../records/payment.store.js';
import {
  type IncomingTransfer,
  type Blocks,
  Chain,
  ChainAway,
  type PaymentStatus,
  type Finality,
  type Statement,
  type SimulationOutcome,
} from './chain.js';
import type { EvmChainOptions } from './evm-terms.js';
import { MOST_GAS, higher, revertOf } from './gas.js';
import { timedCall } from './node-calls.js';
import { wholeFetch } from './post-json.js';
import { senderOf } from './signers.js';
import { CANCELED, TRANSFER, type Timing, USDC, USED, timingOf, transferData } from './usdc.js';
import { BLOCKS_AT_ONCE, rangesAround, useAmong } from './uses.js';

/** A node without a complete response in this time, twice, counts as down. */
const RESPONSE_MS = 5_000;

/** Enough for the events of 9,000 blocks. */
const RESPONSE_BYTES = 10_485_760;

/** Blocks no older than this are in the state that every node keeps. Source: 128 blocks in geth. */
const RECENT_BLOCKS = 64n;

/** Margin for a lagging chain clock and for replaced last blocks. */
const EXPIRY_MARGIN_SECONDS = 120n;

/** Suffix of the signature of a wallet that is not deployed yet. Source: EIP-6492. */
const UNDEPLOYED = '6492'.repeat(16);
type Sought = Pick<Payment<Authorization>, 'authorization' | 'seenBlock' | 'transaction'>;

/** A facilitator may return any text. */
const TRANSACTION_HASH = /^0x[0-9a-f]{64}$/i;

export interface PreparedTransaction {
  readonly raw: Hex;
  readonly hash: Hash;
}

/** An EVM chain, as seen by a node. Every method except `send` throws ChainAway if the node fails. */
export class EvmChain extends Chain {
  override readonly mayReplace = true;

  override readonly statement: Statement = {
    blocksAtOnce: BLOCKS_AT_ONCE,
    lastSure: () => this.lastSure(),
    incomingTransfers: (payTo, blocks) => this.incomingTransfers(payTo, blocks),
  };
  private readonly client: PublicClient;
  private isChecked = false;

  constructor(private readonly options: EvmChainOptions) {
    super();
    const { rpcUrl, terms } = options;
    const chain = defineChain({
      id: terms.chainId,
      name: terms.title,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    });
    // By default, viem's timeout covers only the head of a response.
    const fetchFn = wholeFetch(RESPONSE_BYTES);
    const transport = http(rpcUrl, { retryCount: 1, timeout: RESPONSE_MS, fetchFn });
    this.client = createPublicClient({ chain, transport, cacheTime: 0 });
  }

  override head(): Promise<bigint> {
    return this.read(() => this.client.getBlockNumber());
  }

  override headTime(): Promise<number> {
    return this.read(async () => Number((await this.client.getBlock()).timestamp));
  }

  /** How many payments an account can pay for with its Ether, if each takes the most gas. */
  affordableBy(address: Address): Promise<number> {
    return this.read(async () => {
      const { maxFeePerGas } = await this.client.estimateFeesPerGas();
      return Number((await this.client.getBalance({ address })) / (MOST_GAS * (maxFeePerGas || 1n)));
    });
  }

  override simulate(authorization: Authorization, seenBlock: bigint): Promise<SimulationOutcome> {
    return this.read(async () => {
      try {
        await this.client.call({ to: this.asset, data: transferData(authorization), gas: MOST_GAS });
        return (await this.timingOf(authorization)) === 'far ahead'
          ? { bad: 'validBefore is more than an hour ahead' }
          : 'good';
      } catch (error) {
        const reason = revertOf(error);
        if (reason === undefined) throw error;
        if (await this.isSpent(authorization))
          return this.simulateSpent({ authorization, seenBlock, transaction: undefined });
        return (await this.timingOf(authorization)) === 'early' ? 'early' : { bad: reason };
      }
    });
  }

  /**
   * Anyone can name an authorization that someone else has spent: it counts only if it paid us, or may have.
   */
  private async simulateSpent(spent: Sought): Promise<SimulationOutcome> {
    const head = await this.client.getBlockNumber();
    const status = await this.spending(spent, head);
    if (status.kind === 'never') return { bad: status.reason };
    if (status.kind !== 'unknown') return 'spent';
    const before = head > RECENT_BLOCKS ? head - RECENT_BLOCKS : 0n;
    // Recent spending is in blocks that every node searches, so this node is behind.
    if (!(await this.isSpent(spent.authorization, before)))
      throw new ChainAway('the node does not show which transaction used an authorization');
    return { bad: status.reason };
  }

  override statusOf(payment: Payment<Authorization>): Promise<PaymentStatus> {
    return this.read(async () => {
      const { authorization } = payment;
      // Everything is read at this block: later changes belong to the next call.
      const block = await this.client.getBlock();
      if (await this.isSpent(authorization, block.number)) return this.spending(payment, block.number);
      const isOver = block.timestamp >= authorization.validBefore + EXPIRY_MARGIN_SECONDS;
      return isOver ? { kind: 'never', reason: 'the authorization has expired' } : { kind: 'unspent' };
    });
  }

  override statusBy({ authorization }: Payment<Authorization>, transaction: string): Promise<PaymentStatus> {
    return this.read(async () => {
      const head = await this.client.getBlockNumber();
      const status = await this.useIn(transaction, authorization, head);
      return status ?? { kind: 'never', reason: 'that transaction did not use the authorization' };
    });
  }

  override finalityOf(payment: Payment<Authorization>): Promise<Finality> {
    return this.read(async () => {
      const { authorization, settledBlock, settledBlockHash } = payment;
      const head = await this.client.getBlockNumber();
      if (settledBlock === undefined) return this.moved(payment);
      // A node that is behind has not seen the block yet.
      if (head < settledBlock + BigInt(this.options.confirmations) - 1n) return { kind: 'unclear' };
      const { hash } = await this.client.getBlock({ blockNumber: settledBlock });
      if (hash === settledBlockHash) return { kind: 'there' };
      // Read at exactly this block, which a node that is behind does not know.
      if (await this.isSpent(authorization, head)) return this.moved(payment);
      return { kind: 'gone' };
    });
  }

  /** Whether the chain has the transaction, and it was reverted. */
  isReverted(transaction: string): Promise<boolean> {
    return this.read(async () => (await this.receiptOf(transaction as Hash))?.status === 'reverted');
  }

  private get asset(): Address {
    return this.options.terms.asset;
  }

  private async timingOf(authorization: Authorization): Promise<Timing> {
    return timingOf(authorization, (await this.client.getBlock()).timestamp);
  }

  private async lastSure(): Promise<bigint> {
    const last = (await this.head()) - BigInt(this.options.confirmations) + 1n;
    return last > 0n ? last : 0n;
  }

  private incomingTransfers(payTo: string, { from, to }: Blocks): Promise<IncomingTransfer[]> {
    return this.read(async () => {
      const logs = await this.client.getLogs({
        address: this.asset,
        event: TRANSFER,
        args: { to: payTo as Address },
        fromBlock: from,
        toBlock: to,
        strict: true,
      });
      return logs.map(({ transactionHash, args, blockNumber }) => ({
        transaction: transactionHash,
        payer: args.from.toLowerCase(),
        units: args.value,
        block: blockNumber,
      }));
    });
  }

  private async moved(payment: Payment<Authorization>): Promise<Finality> {
    const status = await this.statusOf(payment);
    if (status.kind === 'paid') return { kind: 'moved', to: status };
    return status.kind === 'never' ? { kind: 'gone' } : { kind: 'unclear' };
  }

  /** Undefined if the chain does not have the transaction. */
  private async receiptOf(hash: Hash): Promise<TransactionReceipt | undefined> {
    try {
      return await this.client.getTransactionReceipt({ hash });
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return undefined;
      throw error;
    }
  }

  /**
   * Signs a transaction that settles a payment, without sending it. It replaces a stuck one of the same
   * signer with a higher fee and the same nonce, or the lowest missing nonce before that. No other
   * transaction of the account may be prepared until it is sent.
   */
  async prepare(
    authorization: Authorization,
    signer: PrivateKeyAccount,
    stuck?: Hex,
  ): Promise<PreparedTransaction> {
    const prepared = await this.read(async () => {
      const isOurs = stuck !== undefined && (await senderOf(stuck)) === signer.address;
      const before = isOurs ? parseTransaction(stuck) : undefined;
      const fees = higher(await this.client.estimateFeesPerGas(), before);
      if (fees.maxFeePerGas > BigInt(this.options.maxFeeGwei) * 1_000_000_000n) return undefined;
      const data = transferData(authorization);
      const account = signer.address;
      const [nonce, gas] = await Promise.all([
        this.numberFor(account, before?.nonce),
        // A node that includes pending transactions would report the authorization as spent.
        before?.gas ?? this.gasFor(account, data),
      ]);
      const raw = await signer.signTransaction({
        chainId: this.options.terms.chainId,
        type: 'eip1559',
        to: this.asset,
        data,
        nonce,
        gas,
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      });
      return { raw, hash: keccak256(raw) };
    });
    if (!prepared) throw new ChainAway(`gas costs more than ${this.options.terms.prefix}_MAX_FEE_GWEI`);
    return prepared;
  }

  /** If the node forgot a transaction, its nonce blocks all later ones, so that nonce is used first. */
  private async numberFor(address: Address, stuck = Number.POSITIVE_INFINITY): Promise<number> {
    return Math.min(stuck, await this.client.getTransactionCount({ address, blockTag: 'pending' }));
  }

  private async gasFor(account: Address, data: Hex): Promise<bigint> {
    const gas = await this.client.estimateGas({ account, to: this.asset, data, gas: MOST_GAS });
    const ample = (gas * 12n) / 10n;
    return ample < MOST_GAS ? ample : MOST_GAS;
  }

  /**
   * Whether a transaction can still be mined: no other one of its account, which may be that of an earlier
   * signer key, has used its nonce.
   */
  isOpen(raw: Hex): Promise<boolean> {
    return this.read(async () => {
      const address = await senderOf(raw);
      const taken = await this.client.getTransactionCount({ address, blockTag: 'latest' });
      return (parseTransaction(raw).nonce ?? 0) >= taken;
    });
  }

  /** Sends a transaction, possibly again. Only the chain's state tells whether it arrived. */
  async send(raw: Hex): Promise<void> {
    try {
      await this.client.sendRawTransaction({ serializedTransaction: raw });
    } catch {
      // Already known, too late, or not received: the chain's state will show it.
    }
  }

  /** Whether a contract wallet confirms that it signed a text. */
  hasSigned({ wallet, text, signature }: SignedText): Promise<boolean> {
    return this.read(async () => {
      if (!/^0x(?:[0-9a-f]{2})+$/i.test(signature)) return false;
      const address = wallet as Address;
      const isUndeployed = signature.toLowerCase().endsWith(UNDEPLOYED);
      if (!isUndeployed && (await this.client.getCode({ address })) === undefined) return false;
      const signed = { address, message: text, signature: signature as Hex };
      if (await this.client.verifyMessage(signed)) return true;
      // viem reports a failed contract call as `false`, so this call throws if the node can't call contracts.
      await this.isSpent({ from: address, nonce: zeroHash });
      return false;
    });
  }

  private isSpent(
    { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
    blockNumber?: bigint,
  ): Promise<boolean> {
    return this.client.readContract({
      address: this.asset,
      abi: USDC,
      functionName: 'authorizationState',
      args: [from, nonce],
      ...(blockNumber !== undefined && { blockNumber }),
    });
  }

  /** Where an authorization that is spent at block `head` was used. */
  private async spending(
    { authorization, seenBlock, transaction }: Sought,
    head: bigint,
  ): Promise<PaymentStatus> {
    const named = transaction !== undefined && TRANSACTION_HASH.test(transaction);
    const status = named ? await this.useIn(transaction, authorization, head) : undefined;
    if (status) return status;
    const { from: authorizer, nonce } = authorization;
    for (const range of rangesAround(seenBlock, head)) {
      const where = { address: this.asset, args: { authorizer, nonce }, ...range } as const;
      const [used] = await this.client.getLogs({ ...where, event: USED });
      if (used) return this.foundUse(used.transactionHash, authorization, head);
      const [canceled] = await this.client.getLogs({ ...where, event: CANCELED });
      // A cancellation does not count while its block may be replaced.
      if (canceled && !this.isSure(canceled.blockNumber, head)) return { kind: 'unconfirmed' };
      if (canceled) return { kind: 'never', reason: 'the authorization was canceled' };
    }
    return {
      kind: 'unknown',
      reason: 'the authorization has been used, but the node does not show by which transaction',
    };
  }

  private async foundUse(hash: Hash, authorization: Authorization, head: bigint): Promise<PaymentStatus> {
    const status = await this.useIn(hash, authorization, head);
    if (!status) throw new ChainAway('the node shows an event that is not in its transaction');
    return status;
  }

  /** The effect of a transaction on an authorization; undefined if it has not used it. */
  private async useIn(
    hash: string,
    authorization: Authorization,
    head: bigint,
  ): Promise<PaymentStatus | undefined> {
    const receipt = await this.receiptOf(hash as Hash);
    if (!receipt) return undefined;
    const { logs, transactionHash, blockNumber, blockHash } = receipt;
    const use = useAmong(logs, authorization);
    if (!use) return undefined;
    if (use.units === undefined) return { kind: 'never', reason: 'the authorization paid another address' };
    if (!this.isSure(blockNumber, head)) return { kind: 'unconfirmed' };
    return {
      kind: 'paid',
      transaction: transactionHash,
      units: use.units,
      block: blockNumber,
      blockHash,
    };
  }

  private isSure(blockNumber: bigint, head: bigint): boolean {
    return head - blockNumber + 1n >= BigInt(this.options.confirmations);
  }

  private async read<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      return await timedCall(this.options.terms.name, 'node', async () => {
        if (!this.isChecked) await this.check();
        return call();
      });
    } catch (error) {
      if (error instanceof ChainAway) throw error;
      // The error message may contain the URL, and with it a key.
      throw new ChainAway(error instanceof BaseError ? error.shortMessage.split('\n')[0] : 'the node failed');
    }
  }

  private async check(): Promise<void> {
    const { chainId, title, prefix } = this.options.terms;
    if ((await this.client.getChainId()) !== chainId)
      throw new ChainAway(`${prefix}_RPC_URL is not a node of ${title}`);
    this.isChecked = true;
  }
}
