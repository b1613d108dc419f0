import { randomBytes } from 'node:crypto';
import type { Authorization } from '../src/header/payment-header.js';
import { BLOCK_SECONDS, type Replaced, useOf } from './test-chain.js';

/** Maximum depth of a reorg, in blocks. */
const DEEPEST = 3;

type Hex = `0x${string}`;

/** A transaction that uses or cancels an authorization. */
export interface PendingTransaction {
  readonly hash: Hex;
  readonly authorization: Authorization;
  readonly isCancel: boolean;
  /** Nonce and fee, for a transaction of our own signer. */
  readonly own?: { readonly nonce: number; readonly fee: number };
}

export interface Block {
  readonly number: number;
  readonly hash: Hex;
  readonly time: bigint;
  /** Transactions that had an effect. */
  readonly done: readonly PendingTransaction[];
  /** Reverted transactions, which used a nonce of our signer. */
  readonly reverted: readonly PendingTransaction[];
  /** Our signer's next nonce. */
  readonly nextNonce: number;
}

export const randomHex = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;

/**
 * Blocks as one node sees them: the chain's own up to `cut`, then possibly others that have been replaced.
 */
export class View {
  constructor(
    private readonly chain: SimulatedChain,
    private readonly cut = Number.POSITIVE_INFINITY,
    private readonly tail: readonly Block[] = [],
  ) {}

  get head(): Block {
    return this.tail.at(-1) ?? this.chain.head;
  }

  block(number: number): Block | undefined {
    return number < this.cut ? this.chain.block(number) : this.tail[number - this.cut];
  }

  /** Where an authorization was used, up to this block. */
  used(
    authorization: Authorization,
    until = this.head.number,
  ): { block: Block; sent: PendingTransaction } | undefined {
    const use = useOf(authorization);
    for (const block of this.chain.blocksWith(use)) {
      if (block.number > until || this.block(block.number) !== block) continue;
      const sent = block.done.find((each) => useOf(each.authorization) === use);
      if (sent) return { block, sent };
    }
    return undefined;
  }

  /** Whether a transaction is in a block and was reverted. */
  isReverted(hash: string): boolean {
    return this.chain
      .blocksReverting(hash)
      .some((block) => block.number <= this.head.number && this.block(block.number) === block);
  }
}

/** A chain with pending transactions, on which an authorization can be used once. */
export class SimulatedChain {
  private readonly blocks: Block[] = [
    { number: 0, hash: randomHex(32), time: 1_000_000n, done: [], reverted: [], nextNonce: 0 },
  ];
  private readonly waiting = new Map<string, PendingTransaction>();
  private readonly uses = new Map<string, Block[]>();
  private readonly reverts = new Map<string, Block[]>();
  readonly now = new View(this);

  get head(): Block {
    const head = this.blocks.at(-1);
    if (!head) throw new Error('a chain has a block');
    return head;
  }

  block(number: number): Block | undefined {
    return this.blocks[number];
  }

  blocksWith(use: string): readonly Block[] {
    return this.uses.get(use) ?? [];
  }

  blocksReverting(hash: string): readonly Block[] {
    return this.reverts.get(hash) ?? [];
  }

  /** The view of a node that receives no further blocks. */
  frozen(): View {
    const cut = Math.max(0, this.head.number - DEEPEST - 1);
    return new View(this, cut, this.blocks.slice(cut));
  }

  /** Our signer's next nonce after its consecutive pending transactions. */
  get pendingNonce(): number {
    const taken = new Set([...this.waiting.values()].map(({ own }) => own?.nonce));
    let next = this.head.nextNonce;
    while (taken.has(next)) next += 1;
    return next;
  }

  /** Accepts a transaction, unless its nonce is used, or a pending one with that nonce pays as much. */
  send(sent: PendingTransaction): void {
    const { own } = sent;
    if (own) {
      if (own.nonce < this.head.nextNonce) return;
      const rival = [...this.waiting.values()].find((each) => each.own?.nonce === own.nonce);
      if (rival?.own && rival.own.fee >= own.fee) return;
      if (rival) this.waiting.delete(rival.hash);
    }
    this.waiting.set(sent.hash, sent);
  }

  /** Drops pending transactions. */
  clear(): void {
    this.waiting.clear();
  }

  mine(count: number, isEmpty = false): void {
    for (let made = 0; made < count; made += 1) this.add(isEmpty ? [] : this.turn());
  }

  reorg(depth: number, how: Replaced): void {
    const gone = this.blocks.splice(Math.max(1, this.blocks.length - Math.min(depth, DEEPEST)));
    for (const { done, reverted } of how === 'lost' ? [] : gone)
      for (const sent of [...done, ...reverted]) this.waiting.set(sent.hash, sent);
    this.mine(gone.length + 1, how !== 'again');
  }

  /** The minable pending transactions: those of our signer by nonce, without a gap. */
  private turn(): PendingTransaction[] {
    const all = [...this.waiting.values()];
    const turn = all.filter(({ own }) => own === undefined);
    let next = this.head.nextNonce;
    for (const sent of all.filter(({ own }) => own).toSorted((a, b) => nonceOf(a) - nonceOf(b))) {
      if (nonceOf(sent) === next) {
        turn.push(sent);
        next += 1;
      } else if (nonceOf(sent) < next) this.waiting.delete(sent.hash);
    }
    return turn;
  }

  private add(turn: readonly PendingTransaction[]): void {
    const time = this.head.time + BLOCK_SECONDS;
    const done = new Map<string, PendingTransaction>();
    const reverted: PendingTransaction[] = [];
    for (const sent of turn) {
      this.waiting.delete(sent.hash);
      const use = useOf(sent.authorization);
      const isOver = !sent.isCancel && time >= sent.authorization.validBefore;
      if (isOver || done.has(use) || this.now.used(sent.authorization)) reverted.push(sent);
      else done.set(use, sent);
    }
    const own = turn.filter((sent) => sent.own).length;
    const block = {
      number: this.head.number + 1,
      hash: randomHex(32),
      time,
      done: [...done.values()],
      reverted: reverted.filter((sent) => sent.own),
      nextNonce: this.head.nextNonce + own,
    };
    this.blocks.push(block);
    for (const { hash } of block.reverted) this.reverts.set(hash, [...this.blocksReverting(hash), block]);
    for (const use of done.keys()) this.uses.set(use, [...this.blocksWith(use), block]);
  }
}

const nonceOf = ({ own }: PendingTransaction): number => own?.nonce ?? 0;
