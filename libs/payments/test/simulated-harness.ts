import type { PrivateKeyAccount } from 'viem/accounts';
import type { Authorization } from '../src/header/payment-header.js';
import {
  FORGED,
  type FacilitatorState,
  type NodeState,
  type TestChain,
  type Replaced,
  type Unsigned,
  type Use,
} from './test-chain.js';
import { type PendingTransaction, SimulatedChain, randomHex } from './simulated-chain.js';
import { SIGNER, SimulatedFacilitator, SimulatedNode } from './simulated-node.js';

/** Histories on a chain simulated in this process. */
export class SimulatedHarness implements TestChain {
  readonly signer: PrivateKeyAccount = SIGNER;
  private readonly chain = new SimulatedChain();
  readonly facilitator = new SimulatedFacilitator(this.chain);
  /** Signed transactions of our signer, by their raw form. */
  private readonly raws = new Map<string, PendingTransaction>();
  private readonly nodes: SimulatedNode[] = [];

  payers(): Promise<readonly Authorization['from'][]> {
    return Promise.resolve([randomHex(20), randomHex(20), randomHex(20)]);
  }

  sign(unsigned: Unsigned): Promise<Authorization> {
    const signature = randomHex(65).replace(FORGED, '0x111') as Authorization['signature'];
    return Promise.resolve({ ...unsigned, signature });
  }

  time(): Promise<bigint> {
    return Promise.resolve(this.chain.head.time);
  }

  mine(blocks: number): void {
    this.chain.mine(blocks);
  }

  reorg(depth: number, how: Replaced): void {
    this.chain.reorg(depth, how);
  }

  use(authorization: Authorization, how: 'settle' | 'cancel'): void {
    this.chain.send({ hash: randomHex(32), authorization, isCancel: how === 'cancel' });
  }

  used(authorization: Authorization): Promise<Use | undefined> {
    return Promise.resolve(this.chain.now.used(authorization)?.sent);
  }

  clear(): void {
    this.chain.clear();
  }

  node(at: number, confirmations: number): SimulatedNode {
    const node = new SimulatedNode(this.chain, confirmations, this.raws);
    this.nodes[at] = node;
    return node;
  }

  setNodeState(at: number, state: NodeState): void {
    this.nodes[at]?.setState(state);
  }

  setFacilitatorState(state: FacilitatorState): void {
    this.facilitator.state = state;
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
