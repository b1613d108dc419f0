import type { PrivateKeyAccount } from 'viem/accounts';
import type { EvmChain } from '../src/chains/evm-chain.js';
import type { Facilitator } from '../src/facilitator/facilitator.js';
import type { Authorization } from '../src/header/payment-header.js';

/** The recipient in all histories. */
export const PAY_TO = '0x00000000000000000000000000000000000000aa';

export const BLOCK_SECONDS = 12n;

/** Prefix of an invalid signature. */
export const FORGED = '0xbad';

export const NODES = ['up', 'down', 'hangs', 'behind'] as const;
export type NodeState = (typeof NODES)[number];

export const FACILITATORS = ['works', 'lies', 'denies', 'hangs', 'down'] as const;
export type FacilitatorState = (typeof FACILITATORS)[number];

/** The fate of transactions in replaced blocks: included again, pending, or lost. */
export type Replaced = 'again' | 'later' | 'lost';

export type Unsigned = Omit<Authorization, 'signature'>;

/** Where the chain used an authorization. */
export interface Use {
  readonly hash: string;
  readonly isCancel: boolean;
}

export const useOf = ({ from, nonce }: Pick<Authorization, 'from' | 'nonce'>): string => `${from} ${nonce}`;

type Done = void | Promise<void>;

/** A chain for histories. Blocks are created on demand, each `BLOCK_SECONDS` after the previous one. */
export interface TestChain {
  readonly facilitator: Facilitator;
  readonly signer: PrivateKeyAccount;

  /** Three payers with enough money for a history. */
  payers(): Promise<readonly Authorization['from'][]>;
  sign(unsigned: Unsigned): Promise<Authorization>;
  /** The time of the last block, in Unix seconds. */
  time(): Promise<bigint>;
  mine(blocks: number): Done;
  reorg(depth: number, how: Replaced): Done;
  /** A third party uses an authorization. */
  use(authorization: Authorization, how: 'settle' | 'cancel'): Done;
  used(authorization: Authorization): Promise<Use | undefined>;
  /** Drops pending transactions. */
  clear(): Done;

  /** The node of a new process with this number. It is up. */
  node(at: number, confirmations: number): EvmChain;
  /** Changes the state of that process's node. */
  setNodeState(at: number, state: NodeState): Done;
  setFacilitatorState(state: FacilitatorState): void;

  stop(): Promise<void>;
}
