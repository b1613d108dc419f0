import { setTimeout as sleep } from 'node:timers/promises';
import { BASE_NETWORK } from '@svc/contracts/money';
import type { SignedText } from '@svc/contracts/ports';
import { EvmChain, type PreparedTransaction } from '../src/chains/evm-chain.js';
import { signerOf } from '../src/chains/signers.js';
import {
  type IncomingTransfer,
  type Blocks,
  ChainAway,
  type PaymentStatus,
  type Finality,
  type Statement,
  type SimulationOutcome,
} from '../src/chains/chain.js';
import { Facilitator } from '../src/facilitator/facilitator.js';
import type { Authorization } from '../src/header/payment-header.js';
import type { Payment } from '../src/records/payment.store.js';
import { BASE } from '../src/rails/base.js';
import { FORGED, type FacilitatorState, type NodeState } from './test-chain.js';
import {
  type Block,
  type PendingTransaction,
  type SimulatedChain,
  type View,
  randomHex,
} from './simulated-chain.js';

/** How long a hanging call takes to time out. */
const HANG_MS = 2;

const MARGIN_SECONDS = 120n;

export const SIGNER = signerOf('11'.repeat(32));

type Hex = `0x${string}`;

/** One node of a simulated chain, with the responses of Base. */
export class SimulatedNode extends EvmChain {
  private state: NodeState = 'up';
  private view: View;

  override readonly statement: Statement = {
    blocksAtOnce: 9_000n,
    lastSure: async () => BigInt(Math.max(0, (await this.see()).head.number - this.confirmations + 1)),
    incomingTransfers: (_payTo, blocks) => this.transfersIn(blocks),
  };

  constructor(
    private readonly chain: SimulatedChain,
    private readonly confirmations: number,
    /** Signed transactions of our signer, by their raw form. */
    private readonly raws: Map<string, PendingTransaction>,
  ) {
    super({ terms: BASE, rpcUrl: 'http://127.0.0.1:9', confirmations, maxFeeGwei: 1 });
    this.view = chain.now;
  }

  setState(state: NodeState): void {
    this.state = state;
    this.view = state === 'behind' ? this.chain.frozen() : this.chain.now;
  }

  override async head(): Promise<bigint> {
    return BigInt((await this.see()).head.number);
  }

  override async simulate(authorization: Authorization): Promise<SimulationOutcome> {
    const view = await this.see();
    if (authorization.signature.startsWith(FORGED)) return { bad: 'invalid signature' };
    const used = view.used(authorization);
    const status = used && this.statusOn(view, used);
    if (status) return status.kind === 'never' ? { bad: status.reason } : 'spent';
    return view.head.time >= authorization.validBefore ? { bad: 'expired' } : 'good';
  }

  override async statusOf({ authorization }: Payment<Authorization>): Promise<PaymentStatus> {
    const view = await this.see();
    const used = view.used(authorization);
    if (used) return this.statusOn(view, used);
    const isOver = view.head.time >= authorization.validBefore + MARGIN_SECONDS;
    return isOver ? { kind: 'never', reason: 'the authorization has expired' } : { kind: 'unspent' };
  }

  override async statusBy(payment: Payment<Authorization>, transaction: string): Promise<PaymentStatus> {
    const view = await this.see();
    const used = view.used(payment.authorization);
    if (used?.sent.hash !== transaction) return { kind: 'never', reason: 'that transaction has not used it' };
    return this.statusOn(view, used);
  }

  override async finalityOf(payment: Payment<Authorization>): Promise<Finality> {
    const view = await this.see();
    const { authorization, settledBlock, settledBlockHash } = payment;
    if (settledBlock === undefined) return this.whereNow(payment);
    if (view.head.number < Number(settledBlock) + this.confirmations - 1) return { kind: 'unclear' };
    if (view.block(Number(settledBlock))?.hash === settledBlockHash) return { kind: 'there' };
    return view.used(authorization) ? this.whereNow(payment) : { kind: 'gone' };
  }

  override async prepare(
    authorization: Authorization,
    _signer: unknown,
    stuck?: Hex,
  ): Promise<PreparedTransaction> {
    const { head } = await this.see();
    const before = stuck && this.raws.get(stuck);
    if (!before && (await this.simulate(authorization)) !== 'good')
      throw new ChainAway('it would be reverted');
    const raw = randomHex(16);
    const isBehind = this.state === 'behind';
    const next = isBehind ? head.nextNonce : this.chain.pendingNonce;
    const nonce = Math.min(before?.own?.nonce ?? next, next);
    const fee = (before?.own?.fee ?? 0) + 1;
    const sent = { hash: randomHex(32), authorization, isCancel: false, own: { nonce, fee } };
    this.raws.set(raw, sent);
    return { raw, hash: sent.hash };
  }

  override async isOpen(raw: Hex): Promise<boolean> {
    const { head } = await this.see();
    return (this.raws.get(raw)?.own?.nonce ?? -1) >= head.nextNonce;
  }

  override async isReverted(transaction: string): Promise<boolean> {
    return (await this.see()).isReverted(transaction);
  }

  /** A hanging node accepts it anyway. */
  override async send(raw: Hex): Promise<void> {
    const sent = this.raws.get(raw);
    if (sent && this.state !== 'down') this.chain.send(sent);
    await this.see().catch(() => undefined);
  }

  override hasSigned(_signed: SignedText): Promise<boolean> {
    return Promise.resolve(false);
  }

  private async transfersIn({ from, to }: Blocks): Promise<IncomingTransfer[]> {
    const view = await this.see();
    const found: IncomingTransfer[] = [];
    for (let number = from; number <= to; number += 1n)
      for (const { isCancel, hash, authorization } of view.block(Number(number))?.done ?? [])
        if (!isCancel)
          found.push({
            transaction: hash,
            payer: authorization.from,
            units: authorization.value,
            block: number,
          });
    return found;
  }

  private async whereNow(payment: Payment<Authorization>): Promise<Finality> {
    const status = await this.statusOf(payment);
    if (status.kind === 'paid') return { kind: 'moved', to: status };
    return status.kind === 'never' ? { kind: 'gone' } : { kind: 'unclear' };
  }

  private statusOn(view: View, { block, sent }: { block: Block; sent: PendingTransaction }): PaymentStatus {
    if (view.head.number - block.number + 1 < this.confirmations) return { kind: 'unconfirmed' };
    if (sent.isCancel) return { kind: 'never', reason: 'the authorization was canceled' };
    const { hash, authorization } = sent;
    return {
      kind: 'paid',
      transaction: hash,
      units: authorization.value,
      block: BigInt(block.number),
      blockHash: block.hash,
    };
  }

  private async see(): Promise<View> {
    switch (this.state) {
      case 'up':
      case 'behind':
        return this.view;
      case 'hangs':
        await sleep(HANG_MS);
        throw new ChainAway('it took too long');
      case 'down':
        throw new ChainAway('it is down');
    }
  }
}

const never = (): Promise<never> => Promise.reject(new Error('its settlements are simulated'));

/** A facilitator of the simulated chain that may lie. */
export class SimulatedFacilitator extends Facilitator {
  state: FacilitatorState = 'works';

  constructor(private readonly chain: SimulatedChain) {
    super('http://127.0.0.1:9', { name: 'base', network: BASE_NETWORK, messageOf: never });
  }

  override async settle(authorization: Authorization): Promise<string | undefined> {
    const sent = { hash: randomHex(32), authorization, isCancel: false };
    switch (this.state) {
      case 'works':
        this.chain.send(sent);
        return sent.hash;
      case 'lies':
        return sent.hash;
      case 'denies':
        this.chain.send(sent);
        return undefined;
      case 'hangs':
        this.chain.send(sent);
        await sleep(HANG_MS);
        return undefined;
      case 'down':
        return undefined;
    }
  }
}
