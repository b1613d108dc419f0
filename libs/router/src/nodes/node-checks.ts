import { randomUUID } from 'node:crypto';
import {
  type BackendCalls,
  type Candidate,
  type LiveBackend,
  type RoutedCall,
  jsonHeaders,
  refuseFailure,
} from '@svc/backend-calls';
import type { Catalog } from '@svc/catalog';
import type { RpcNetwork } from '@svc/contracts/catalog';
import { nodesName } from '@svc/contracts/inference';
import { boundedJson, type Logger } from '@svc/runtime';
import { errorType } from '@svc/telemetry';
import { z } from 'zod';
import { CHAIN_QUERIES, FINALIZED_QUERIES, HEAD_QUERIES, type NodeQuery, chainOf } from './node-queries.js';

const CHECK_MS = 2_000;
const CHECK_ID = 'check';

/** A block has the hashes of its transactions. */
const RESPONSE_BYTES = 2_097_152;

/** How far behind the best node of its network a node may be. Solana has several blocks a second. */
const MAX_LAG = { evm: 10, solana: 150, starknet: 10 } as const;

export interface CheckTimes {
  /** How often nodes are looked at. */
  readonly tickMs: number;
  /** How often the chain of a node is checked. A node whose chain is not known is checked with every tick. */
  readonly chainMs: number;
  /** How long after its last request a network's nodes are compared, and how long that counts. */
  readonly trafficMs: number;
}

const TIMES: CheckTimes = { tickMs: 10_000, chainMs: 60_000, trafficMs: 60_000 };

export interface CheckSettings {
  readonly log: Logger;
  readonly times?: CheckTimes;
}

/** What is known of a node. */
interface NodeState {
  /** The chain that it has reported last. */
  chain?: string;
  /** When it has reported it. */
  chainAtMs?: number;
  checking?: Promise<void> | undefined;
  hasWarned?: boolean;
  /** How it compared with the other nodes of its network, and until when that counts. */
  compared?: Comparison & { readonly untilMs: number };
}

interface Comparison {
  /** The number of blocks by which it is behind. */
  readonly lag: number;
  /** A block that is final at every node; `undefined` if one of them does not report it. */
  readonly finalized: number | undefined;
}

const RpcResult = z.object({ result: z.unknown() });

/**
 * Checks the nodes of blockchain networks. A node is called only after it has reported the chain that the
 * catalogue has for its network. While a network has requests, its nodes are compared: one that is too many
 * blocks behind is called after the others, and the block that all of them call final is noted. What is known
 * of a node is forgotten when the catalogue changes.
 */
export class NodeChecks {
  private readonly states = new WeakMap<LiveBackend, NodeState>();
  /** When a network had its last request. */
  private readonly requestedMs = new Map<string, number>();
  private readonly times: CheckTimes;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly catalog: Catalog,
    private readonly backends: BackendCalls,
    private readonly settings: CheckSettings,
  ) {
    this.times = settings.times ?? TIMES;
    catalog.onReplaced(() => {
      this.requestedMs.clear();
      if (this.timer) this.tick();
    });
  }

  start(): void {
    this.timer = setInterval(() => this.tick(), this.times.tickMs).unref();
    this.tick();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /**
   * The candidates for an RPC call that are of the right chain, in their order, except that reads call nodes
   * last that are behind. If none is known to be of this chain, waits for the first new one to report it.
   */
  async usable<Node extends Candidate>(
    candidates: readonly Node[],
    { kind, accountId }: Pick<RoutedCall, 'kind' | 'accountId'>,
  ): Promise<readonly Node[]> {
    const name = candidates[0]?.live.backend.model ?? '';
    const network = this.networkOf(name);
    if (!network) return candidates;
    this.requestedMs.set(name, performance.now());
    const isRight = ({ live }: Node): boolean => this.isRight(live, network);
    if (!candidates.some(isRight)) await this.firstRight(candidates, network);
    const right = candidates.filter(isRight);
    if (kind === 'rpc-send') return right;
    const rank = ({ live }: Node): number =>
      Number(live.health.isOn(accountId)) * 2 + Number(this.isBehind(live, network));
    return right.toSorted((a, b) => rank(a) - rank(b));
  }

  /** Nodes that have reported another chain than the catalogue has for their network. */
  isWrong(live: LiveBackend): boolean {
    const network = this.networkOf(live.backend.model);
    return network !== undefined && this.stateOf(live).chain !== undefined && !this.isRight(live, network);
  }

  /** How many blocks a node is behind; `undefined` if it has not been compared lately. */
  lagOf(live: LiveBackend): number | undefined {
    return this.comparisonOf(live)?.lag;
  }

  /** Whether a node is too far behind to be preferred. */
  isLagging(live: LiveBackend): boolean {
    const network = this.networkOf(live.backend.model);
    return network !== undefined && this.isBehind(live, network);
  }

  /** A block that is final at every node of the network, if this node was among those compared lately. */
  finalizedOf(live: LiveBackend): number | undefined {
    return this.comparisonOf(live)?.finalized;
  }

  private comparisonOf(live: LiveBackend): Comparison | undefined {
    const { compared } = this.stateOf(live);
    return compared && performance.now() < compared.untilMs ? compared : undefined;
  }

  private networkOf(name: string): RpcNetwork | undefined {
    const networks = this.catalog.cryptoRpc?.networks ?? {};
    return Object.hasOwn(networks, name) ? networks[name] : undefined;
  }

  private stateOf(live: LiveBackend): NodeState {
    const known = this.states.get(live) ?? {};
    this.states.set(live, known);
    return known;
  }

  private isRight(live: LiveBackend, network: RpcNetwork): boolean {
    const expected = chainOf(network);
    return expected === undefined || this.stateOf(live).chain === expected;
  }

  private isBehind(live: LiveBackend, { family, maxLagBlocks = MAX_LAG[family] }: RpcNetwork): boolean {
    return (this.lagOf(live) ?? 0) > maxLagBlocks;
  }

  /** Resolves when the first new node has reported the right chain, or all have been checked. */
  private async firstRight(candidates: readonly Candidate[], network: RpcNetwork): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const checks = candidates
      .filter(({ live }) => this.stateOf(live).chain === undefined)
      .map(({ live }) =>
        this.checkChain(live, network).then(() => {
          if (this.isRight(live, network)) resolve();
        }),
      );
    await Promise.race([promise, Promise.all(checks)]);
  }

  private tick(): void {
    const nowMs = performance.now();
    for (const [name, network] of Object.entries(this.catalog.cryptoRpc?.networks ?? {})) {
      const { pool } = this.backends;
      const isOff = (live: LiveBackend): boolean =>
        pool.drains.of(nodesName(name), live.name)?.state === 'off';
      const nodes = pool.candidates(this.catalog.nodesOf(name)).filter((live) => !isOff(live));
      for (const live of nodes) {
        const { chainAtMs = -Infinity } = this.stateOf(live);
        // It never rejects.
        if (nowMs - chainAtMs >= this.times.chainMs) void this.checkChain(live, network);
      }
      const isUsed = nowMs - (this.requestedMs.get(name) ?? -Infinity) < this.times.trafficMs;
      // It never rejects.
      if (isUsed) void this.compare(nodes, network);
    }
  }

  /** Checks a node, once at a time. Never rejects. */
  private checkChain(live: LiveBackend, network: RpcNetwork): Promise<void> {
    const state = this.stateOf(live);
    if (chainOf(network) === undefined) return Promise.resolve();
    state.checking ??= this.readChain(live, network).finally(() => {
      state.checking = undefined;
    });
    return state.checking;
  }

  private async readChain(live: LiveBackend, network: RpcNetwork): Promise<void> {
    const state = this.stateOf(live);
    const { log } = this.settings;
    const expected = chainOf(network);
    const fields = { network: live.backend.model, backend: live.name, expected };
    try {
      const found = await this.valueOf(live, CHAIN_QUERIES[network.family]);
      const wasRight = state.chain === expected;
      const isNews = state.chain !== found;
      Object.assign(state, { chain: found, chainAtMs: performance.now(), hasWarned: false });
      if (found !== expected && isNews)
        log.error({ ...fields, found }, 'a blockchain node is of another chain, and is not used');
      if (found === expected && !wasRight) log.info(fields, 'a blockchain node is of the right chain');
    } catch (error) {
      // A node that was of the right chain is treated like any other one that fails.
      if (state.chain !== undefined || state.hasWarned || !this.requestedMs.has(live.backend.model)) return;
      state.hasWarned = true;
      log.warn(
        { ...fields, reason: errorType(error) },
        'a blockchain node does not report its chain, and is not used yet',
      );
    }
  }

  /** Never rejects. Nodes that do not respond are not compared. */
  private async compare(nodes: readonly LiveBackend[], network: RpcNetwork): Promise<void> {
    const right = nodes.filter((live) => this.isRight(live, network));
    const heads = await Promise.all(right.map((live) => this.headsOf(live, network)));
    const known = heads.filter((heads) => heads !== undefined);
    const best = Math.max(...known.map(({ latest }) => latest));
    // Not a number if a node does not report it. Among several nodes, one that lies can only lower it.
    const lowest = Math.min(
      ...known.map(({ latest, finalized = Number.NaN }) => Math.min(latest, finalized)),
    );
    const finalized = Number.isNaN(lowest) ? undefined : lowest;
    const untilMs = performance.now() + this.times.trafficMs;
    for (const { live, latest } of known)
      this.stateOf(live).compared = { lag: best - latest, finalized, untilMs };
  }

  /** The latest and the final block of a node; `undefined` if it does not respond. */
  private async headsOf(live: LiveBackend, { family }: RpcNetwork) {
    const [latest, finalized] = await Promise.all([
      this.valueOf(live, HEAD_QUERIES[family]).catch(() => undefined),
      family === 'starknet'
        ? undefined
        : this.valueOf(live, FINALIZED_QUERIES[family]).catch(() => undefined),
    ]);
    return latest === undefined ? undefined : { live, latest, finalized };
  }

  /** Outside the slots of the node, so that one that is busy is checked too. */
  private async valueOf<Value>(live: LiveBackend, query: NodeQuery<Value>): Promise<Value> {
    const { method, params, read } = query;
    const { pool, credentials } = this.backends;
    const request = {
      origin: live.origin,
      path: live.basePath || '/',
      headers: jsonHeaders({ requestId: randomUUID(), key: credentials.keyOf(live) }),
      body: JSON.stringify({ jsonrpc: '2.0', id: CHECK_ID, method, params }),
      pauseMs: CHECK_MS,
      deadlineMs: CHECK_MS,
    };
    return pool.callApart(request, { mayRepeat: true }, async (exchange) => {
      await refuseFailure(exchange);
      const { result } = RpcResult.parse(boundedJson(await exchange.text(RESPONSE_BYTES)));
      const value = read(result);
      if (value === undefined) throw new Error(`the result of ${method} cannot be read`);
      return value;
    });
  }
}
