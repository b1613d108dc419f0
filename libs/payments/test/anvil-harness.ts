import { LocalChain } from '@svc/infra';
import { BASE_NETWORK, BASE_USDC } from '@svc/contracts/money';
import { encodeFunctionData, keccak256, pad, parseAbi, toEventSelector, toHex } from 'viem';
import {
  type PrivateKeyAccount,
  generatePrivateKey,
  mnemonicToAccount,
  privateKeyToAccount,
} from 'viem/accounts';
import { EvmChain } from '../src/chains/evm-chain.js';
import type { Authorization } from '../src/header/payment-header.js';
import type { Facilitator } from '../src/facilitator/facilitator.js';
import { BASE } from '../src/rails/base.js';
import { evmFacilitator } from '../src/rails/evm-rail.js';
import { AnvilNode } from './anvil-node.js';
import { FaultyFacilitator } from './faulty-facilitator.js';
import {
  BLOCK_SECONDS,
  type FacilitatorState,
  type NodeState,
  type TestChain,
  type Replaced,
  type Unsigned,
  type Use,
} from './test-chain.js';
import { randomHex } from './simulated-chain.js';

type Hex = `0x${string}`;

/** The payload of a payment. */
interface Payload {
  readonly signature: Hex;
  readonly authorization: Record<keyof Authorization, Hex>;
}

const CHAIN_ID = 8_453;

/** Blocks that no reorg of a history reaches. */
const SETTLED_BLOCKS = 5;

const USDC = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
]);
const [USED, CANCELED] = [
  toEventSelector('AuthorizationUsed(address,bytes32)'),
  toEventSelector('AuthorizationCanceled(address,bytes32)'),
];

const DOMAIN = { name: 'USD Coin', version: '2', chainId: CHAIN_ID, verifyingContract: BASE_USDC } as const;
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** One of the accounts that anvil funds with gas in its first block. */
const STRANGER = mnemonicToAccount('test test test test test test test test test test test junk', {
  addressIndex: 7,
});

const GAS = { gas: 200_000n, maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** A payer's USDC: more than a history can pay. */
const PAYER_USDC = 5_000;

/** Histories on a real local chain, with fault injection in front of each node. */
export class AnvilHarness implements TestChain {
  readonly facilitator: Facilitator;
  private readonly keys = new Map<string, PrivateKeyAccount>();
  private firstBlock = 0;
  /** One transaction of the third party at a time: two at once would use the same nonce. */
  private sending: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly chain: LocalChain,
    private readonly nodes: readonly AnvilNode[],
    private readonly settler: FaultyFacilitator,
  ) {
    this.facilitator = evmFacilitator(settler.url, BASE);
  }

  readonly signer = privateKeyToAccount(generatePrivateKey());

  static async start(): Promise<AnvilHarness> {
    const chain = await LocalChain.start();
    const nodes = await Promise.all([AnvilNode.start(chain.url), AnvilNode.start(chain.url)]);
    const harness: AnvilHarness = new AnvilHarness(
      chain,
      nodes,
      await FaultyFacilitator.start({
        settle: (payload) => harness.settle(authorizationOf(payload as Payload)),
        lie: () => randomHex(32),
        kinds: [{ x402Version: 2, scheme: 'exact', network: BASE_NETWORK }],
      }),
    );
    await chain.call('anvil_setBlockTimestampInterval', [Number(BLOCK_SECONDS)]);
    await chain.fund(harness.signer.address);
    await chain.call('evm_setAutomine', [false]);
    await harness.mine(SETTLED_BLOCKS);
    return harness;
  }

  async payers(): Promise<readonly Hex[]> {
    this.keys.clear();
    await this.chain.call('evm_setAutomine', [true]);
    for (let made = 0; made < 3; made += 1) {
      const account = privateKeyToAccount(generatePrivateKey());
      const address = account.address.toLowerCase();
      this.keys.set(address, account);
      await this.chain.mint(address, PAYER_USDC);
    }
    await this.chain.call('evm_setAutomine', [false]);
    await this.mine(SETTLED_BLOCKS);
    this.firstBlock = await this.head();
    return [...this.keys.keys()] as Hex[];
  }

  async sign(unsigned: Unsigned): Promise<Authorization> {
    const { network: _network, asset: _asset, ...message } = unsigned;
    const signature = await this.keyOf(unsigned).signTypedData({
      domain: DOMAIN,
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message,
    });
    return { ...unsigned, signature };
  }

  async time(): Promise<bigint> {
    const { timestamp } = (await this.chain.call('eth_getBlockByNumber', ['latest', false])) as {
      timestamp: Hex;
    };
    return BigInt(timestamp);
  }

  async mine(blocks: number): Promise<void> {
    await this.chain.call('anvil_mine', [toHex(blocks)]);
  }

  async reorg(depth: number, how: Replaced): Promise<void> {
    const raws = await this.rawsOf(depth);
    await this.chain.call('anvil_reorg', [depth, how === 'again' ? raws : []]);
    // The replacement is one block longer.
    await this.mine(1);
    for (const [raw] of how === 'later' ? raws : []) await this.send(raw);
  }

  async use(authorization: Authorization, how: 'settle' | 'cancel'): Promise<void> {
    await (how === 'settle' ? this.settle(authorization) : this.cancel(authorization));
  }

  async used({ from, nonce }: Authorization): Promise<Use | undefined> {
    const [log] = (await this.chain.call('eth_getLogs', [
      {
        address: BASE_USDC,
        fromBlock: toHex(this.firstBlock),
        toBlock: 'latest',
        topics: [[USED, CANCELED], pad(from), nonce],
      },
    ])) as { transactionHash: string; topics: readonly string[] }[];
    return log && { hash: log.transactionHash, isCancel: log.topics[0] === CANCELED };
  }

  async clear(): Promise<void> {
    await this.chain.call('anvil_dropAllTransactions', []);
  }

  node(at: number, confirmations: number): EvmChain {
    const { url } = this.nodeAt(at);
    void this.setNodeState(at, 'up'); // A node that becomes up makes no call before.
    return new EvmChain({ terms: BASE, rpcUrl: url, confirmations, maxFeeGwei: 1_000 });
  }

  setNodeState(at: number, state: NodeState): Promise<void> {
    return this.nodeAt(at).setState(state);
  }

  setFacilitatorState(state: FacilitatorState): void {
    this.settler.state = state;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.nodes.map((node) => node.stop()), this.settler.stop(), this.chain.stop()]);
  }

  private settle(authorization: Authorization): Promise<string> {
    const { from, to, value, validAfter, validBefore, nonce, signature } = authorization;
    return this.sendByStranger(
      encodeFunctionData({
        abi: USDC,
        functionName: 'transferWithAuthorization',
        args: [from, to, value, validAfter, validBefore, nonce, signature],
      }),
    );
  }

  private async cancel(authorization: Authorization): Promise<string> {
    const { from: authorizer, nonce } = authorization;
    const signature = await this.keyOf(authorization).signTypedData({
      domain: DOMAIN,
      types: TYPES,
      primaryType: 'CancelAuthorization',
      message: { authorizer, nonce },
    });
    const args = [authorizer, nonce, signature] as const;
    return this.sendByStranger(encodeFunctionData({ abi: USDC, functionName: 'cancelAuthorization', args }));
  }

  private sendByStranger(data: Hex): Promise<string> {
    const sent = this.sending.then(async () => {
      const nonce = Number(await this.chain.call('eth_getTransactionCount', [STRANGER.address, 'pending']));
      const call = { chainId: CHAIN_ID, type: 'eip1559', to: BASE_USDC, data, nonce, ...GAS } as const;
      const raw = await STRANGER.signTransaction(call);
      await this.send(raw);
      return keccak256(raw);
    });
    this.sending = sent.catch(() => undefined);
    return sent;
  }

  /** A used nonce or a low fee is rejected: then the transaction is lost. */
  private async send(raw: Hex): Promise<void> {
    await this.chain.call('eth_sendRawTransaction', [raw]).catch(() => undefined);
  }

  /** The transactions of the last blocks, each with its block's position. */
  private async rawsOf(depth: number): Promise<(readonly [Hex, number])[]> {
    const head = await this.head();
    const raws: (readonly [Hex, number])[] = [];
    for (let place = 0; place < depth; place += 1) {
      const number = toHex(head - depth + 1 + place);
      const { transactions } = (await this.chain.call('eth_getBlockByNumber', [number, false])) as {
        transactions: readonly Hex[];
      };
      for (const hash of transactions)
        raws.push([(await this.chain.call('debug_getRawTransaction', [hash])) as Hex, place]);
    }
    return raws;
  }

  private async head(): Promise<number> {
    return Number(await this.chain.call('eth_blockNumber', []));
  }

  private keyOf({ from }: Unsigned): PrivateKeyAccount {
    const key = this.keys.get(from);
    if (!key) throw new Error('a payer has a key');
    return key;
  }

  private nodeAt(at: number): AnvilNode {
    const node = this.nodes[at];
    if (!node) throw new Error('there is no such node');
    return node;
  }
}

function authorizationOf({ signature, authorization }: Payload): Authorization {
  const { from, to, nonce, value, validAfter, validBefore } = authorization;
  return {
    network: BASE_NETWORK,
    asset: BASE_USDC,
    from,
    to,
    nonce,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    signature,
  };
}
