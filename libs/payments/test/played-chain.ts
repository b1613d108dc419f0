import type { PrivateKeyAccount } from 'viem/accounts';
import type { BaseChain } from '../src/chains/base-chain.js';
import type { Facilitator } from '../src/facilitator/facilitator.js';
import type { Authorization } from '../src/header/payment-header.js';

/** Who is paid in all histories. */
export const PAY_TO = '0x00000000000000000000000000000000000000aa';

export const BLOCK_SECONDS = 12n;

/** A signature that is none starts so. */
export const FORGED = '0xbad';

export const NODES = ['up', 'down', 'hangs', 'behind'] as const;
export type NodeMood = (typeof NODES)[number];

export const FACILITATORS = ['works', 'lies', 'denies', 'hangs', 'down'] as const;
export type FacilitatorMood = (typeof FACILITATORS)[number];

/** What becomes of the transactions of blocks that are replaced: the new ones have them, they wait, or nobody has them. */
export type Replaced = 'again' | 'later' | 'lost';

export type Unsigned = Omit<Authorization, 'signature'>;

/** Where the chain has the use of an authorization. */
export interface Use {
  readonly hash: string;
  readonly isCancel: boolean;
}

export const useOf = ({ from, nonce }: Pick<Authorization, 'from' | 'nonce'>): string => `${from} ${nonce}`;

type Done = void | Promise<void>;

/** A chain that histories are played on. Blocks come as they are told to, each `BLOCK_SECONDS` after the one before. */
export interface PlayedChain {
  readonly facilitator: Facilitator;
  readonly signer: PrivateKeyAccount;

  /** Three who have enough for a history. */
  payers(): Promise<readonly Authorization['from'][]>;
  sign(unsigned: Unsigned): Promise<Authorization>;
  /** Of the last block, in Unix seconds. */
  time(): Promise<bigint>;
  mine(blocks: number): Done;
  reorg(depth: number, how: Replaced): Done;
  /** Somebody who is not the service uses an authorization. */
  use(authorization: Authorization, how: 'settle' | 'cancel'): Done;
  used(authorization: Authorization): Promise<Use | undefined>;
  /** Forgets what waits. */
  clear(): Done;

  /** What a new process with this number asks. It is up. */
  node(at: number, confirmations: number): BaseChain;
  /** The node of that process. */
  nodeBecomes(at: number, mood: NodeMood): Done;
  facilitatorBecomes(mood: FacilitatorMood): void;

  stop(): Promise<void>;
}
