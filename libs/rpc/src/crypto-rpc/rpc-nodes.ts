import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { nodesName } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import type { JsonText } from '@svc/runtime';
import { inference } from '@svc/telemetry';
import { PROBES } from './methods.js';
import { type NodeOutcome, isWeak } from './node-outcomes.js';
import { NodeRequests, bodyOf } from './node-requests.js';
import type { RpcPlan } from './rpc-plan.js';
import { RpcSends } from './rpc-sends.js';
import { type ReadCall, type ReadOutcome, ReadPart, SharedReads } from './shared-reads.js';

/** Requests to nodes at the same time, for one request of a client. */
const AT_ONCE = 8;

/** Requests for the same reads, each to another node. */
const READ_ATTEMPTS = 2;

/** How long the second of them may take, and how long the call of another client is waited for. */
const AGAIN_MS = 10_000;

/** How long a network is known to respond or not, and how long it is waited for. */
const KNOWN_MS = 10_000;
const PROBE_MS = 2_000;

interface RpcCaller {
  readonly requestId: string;
  readonly accountId: string;
  /** Whether an earlier process may have made the same request. */
  readonly mayBeSent: boolean;
}

/** The outcome of each call, or `undefined` if no node responded. */
export interface RpcOutcomes {
  readonly outcomes: readonly (NodeOutcome | undefined)[];
  readonly backend: string;
}

/** The outcomes of a request so far. */
class RequestProgress {
  readonly outcomes: (NodeOutcome | undefined)[];
  backend: string | undefined;
  failure: unknown;

  constructor(count: number) {
    this.outcomes = Array.from({ length: count }, () => undefined);
  }

  add(index: number, { outcome, backend, failure }: ReadOutcome): void {
    this.outcomes[index] = outcome;
    this.backend ??= backend;
    if (failure !== undefined) this.failure = failure;
  }
}

interface ReadContext {
  readonly strings: JsonText['strings'];
  readonly caller: RpcCaller;
  readonly progress: RequestProgress;
}

/** Calls the nodes of blockchain networks. */
@Injectable()
export class RpcNodes {
  private known: { readonly untilMs: number; readonly networks: Promise<string[]> } | undefined;

  constructor(
    private readonly requests: NodeRequests,
    private readonly sends: RpcSends,
    private readonly shared: SharedReads,
    private readonly catalog: Catalog,
  ) {}

  /** A block that is final at all nodes of a network, if it is known. */
  finalizedBlockOf(network: string): number | undefined {
    return this.shared.finalizedOf(network);
  }

  /** Makes all calls. Refuses: UNAVAILABLE or REQUEST_TIMEOUT if no node responded. */
  async call(
    plan: RpcPlan,
    { strings, caller }: { readonly strings: JsonText['strings']; readonly caller: RpcCaller },
    signal: AbortSignal,
  ): Promise<RpcOutcomes> {
    const { network, calls, sent } = plan;
    const progress = new RequestProgress(calls.length);
    await Promise.all([
      this.sends.sendAll(sent, { network, ...caller }, (index, outcome) => progress.add(index, outcome)),
      this.read(plan, { strings, caller, progress }, signal),
    ]);
    const { outcomes, backend, failure } = progress;
    if (outcomes.every((outcome) => outcome === undefined) && backend === undefined)
      throw noResponse(network, failure);
    return { outcomes, backend: backend ?? 'none' };
  }

  /** Makes the calls that send nothing. */
  private async read(plan: RpcPlan, context: ReadContext, signal: AbortSignal): Promise<void> {
    const { calls, sent } = plan;
    const { progress } = context;
    const sending = new Set(sent.map(({ index }) => index));
    const reads = [...calls.keys()].filter((index) => {
      const refusal = calls[index]?.refusal;
      if (refusal !== undefined) progress.add(index, { outcome: { error: refusal, isFree: true } });
      return !sending.has(index) && refusal === undefined;
    });
    const lost = await this.readAll({ ...plan, indexes: reads, mayJoin: true }, context, signal);
    // What the calls of other clients have not brought is read for this one alone.
    if (lost.length > 0 && !signal.aborted)
      await this.readAll({ ...plan, indexes: lost, mayJoin: false }, context, signal);
  }

  /**
   * Makes those calls whose results are not kept, in as many requests as the nodes' limit of calls needs, or
   * waits for the same calls of other requests. Returns those that had no outcome there.
   */
  private async readAll(
    plan: RpcPlan & { readonly indexes: readonly number[]; readonly mayJoin: boolean },
    context: ReadContext,
    signal: AbortSignal,
  ): Promise<number[]> {
    const { network, settings, calls, indexes, mayJoin } = plan;
    const { progress } = context;
    const model = nodesName(network);
    const own: ReadPart[] = [];
    const awaited = new Map<ReadPart, { index: number; position: number }[]>();
    for (const index of indexes) {
      const call = calls[index];
      if (!call) continue;
      const kept = this.shared.kept(network, call);
      if (kept) {
        progress.add(index, kept);
        inference.nodeReads.add(1, model, 'kept');
        continue;
      }
      let read = mayJoin ? this.shared.opened(network, call) : undefined;
      inference.nodeReads.add(1, model, read ? 'shared' : 'made');
      if (!read) {
        let part = own.at(-1);
        if (!part || part.calls.length === settings.batch) own.push((part = new ReadPart()));
        read = { part, position: part.calls.push(call) - 1 };
        this.shared.begin(network, call, read);
      }
      const places = awaited.get(read.part) ?? [];
      awaited.set(read.part, places);
      places.push({ index, position: read.position });
    }
    // Its parts never reject, and go on for other requests that wait for them.
    void this.runAll([...own], plan, context);
    await Promise.all(
      Array.from(awaited, async ([part, places]) => {
        const within = own.includes(part) ? signal : AbortSignal.any([signal, AbortSignal.timeout(AGAIN_MS)]);
        try {
          const outcomes = await part.outcomes(within);
          for (const { index, position } of places) progress.add(index, outcomes[position] ?? {});
        } catch (error) {
          progress.failure = error;
        }
      }),
    );
    const joined = [...awaited].flatMap(([part, places]) => (own.includes(part) ? [] : places));
    return joined.map(({ index }) => index).filter((index) => progress.outcomes[index] === undefined);
  }

  private async runAll(parts: ReadPart[], plan: RpcPlan, context: ReadContext): Promise<void> {
    const work = async (): Promise<void> => {
      for (let part = parts.shift(); part; part = parts.shift()) {
        const { calls } = part;
        await part.run((signal) => this.readPart({ ...plan, calls }, context, signal));
        this.shared.close(plan.network, part);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** Makes calls together, and those without a good response once more, at another node. Never rejects. */
  private async readPart(
    {
      network,
      settings,
      calls,
    }: Pick<RpcPlan, 'network' | 'settings'> & { readonly calls: readonly ReadCall[] },
    { strings, caller: { requestId, accountId } }: ReadContext,
    signal: AbortSignal,
  ): Promise<readonly ReadOutcome[]> {
    const found: ReadOutcome[] = calls.map(() => ({}));
    const finalizedBefore = this.shared.finalizedOf(network) ?? -1;
    let left = [...calls.entries()];
    let exceptBackend: string | undefined;
    try {
      for (let attempt = 1; attempt <= Math.min(READ_ATTEMPTS, settings.nodes.length); attempt += 1) {
        const body = await strings.bytesOf(bodyOf(left.map(([, call]) => call)));
        const except = exceptBackend === undefined ? {} : { exceptBackend };
        const request = { network, requestId, accountId, body, count: left.length, ...except };
        const within = attempt === 1 ? signal : AbortSignal.any([signal, AbortSignal.timeout(AGAIN_MS)]);
        const response = await this.requests.send(request, within);
        const { outcomes, backend, fault, finalizedBlock } = response;
        this.shared.note(network, finalizedBlock);
        for (const [position, [at, call]] of left.entries()) {
          const outcome = outcomes.get(position);
          const before = found[at] ?? {};
          if (before.outcome && isWeak(outcome)) continue;
          found[at] = {
            ...(outcome && { outcome }),
            backend: before.backend ?? (fault === undefined ? backend : undefined),
            failure: fault,
          };
          if (!outcome || !('result' in outcome)) continue;
          const final = Math.min(finalizedBefore, finalizedBlock ?? -1);
          this.shared.keep(network, call, { result: outcome.result, backend, finalizedBlock: final });
        }
        left = left.filter(([at]) => isWeak(found[at]?.outcome));
        if (left.length === 0) return found;
        exceptBackend = backend;
      }
    } catch (error) {
      for (const [at] of left) found[at] = { ...found[at], failure: error };
    }
    return found;
  }

  /** The networks of which a node responds, by name. */
  availableNetworks(): Promise<string[]> {
    const nowMs = performance.now();
    if (this.known && nowMs < this.known.untilMs) return this.known.networks;
    const networks = this.probed();
    this.known = { untilMs: nowMs + KNOWN_MS, networks };
    return networks;
  }

  private async probed(): Promise<string[]> {
    const networks = Object.entries(this.catalog.cryptoRpc?.networks ?? {});
    const responds = await Promise.all(
      networks.map(async ([network, { family }]) => {
        const body = [Buffer.from(bodyOf([{ method: PROBES[family], params: undefined }]))];
        const request = { network, requestId: randomUUID(), accountId: randomUUID(), body, count: 1 };
        try {
          const { outcomes } = await this.requests.send(request, AbortSignal.timeout(PROBE_MS));
          return outcomes.has(0);
        } catch {
          return false;
        }
      }),
    );
    return networks.flatMap(([network], index) => (responds[index] === true ? [network] : [])).toSorted();
  }
}

function noResponse(network: string, failure: unknown): Problem {
  if (failure instanceof Problem && failure.code === 'REQUEST_TIMEOUT') return failure;
  return new Problem('UNAVAILABLE', { message: `No node of ${network} responds.`, cause: failure });
}
