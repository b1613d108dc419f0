import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Problem } from '@svc/contracts';
import type { JsonText } from '@svc/runtime';
import { PROBES } from './methods.js';
import { type NodeOutcome, isWeak } from './node-outcomes.js';
import { NodeRequests, bodyOf } from './node-requests.js';
import type { RpcPlan } from './rpc-plan.js';
import { RpcSends } from './rpc-sends.js';

/** Requests to nodes at the same time, for one request of a client. */
const AT_ONCE = 8;

/** Requests for the same reads, each to another node. */
const READ_ATTEMPTS = 2;

/** How long the second of them may take. */
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

  add(index: number, outcome: NodeOutcome | undefined, backend?: string): void {
    this.outcomes[index] = outcome;
    this.backend ??= backend;
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
    private readonly catalog: Catalog,
  ) {}

  /** Makes all calls. Refuses: UNAVAILABLE or REQUEST_TIMEOUT if no node responded. */
  async call(
    plan: RpcPlan,
    { strings, caller }: { readonly strings: JsonText['strings']; readonly caller: RpcCaller },
    signal: AbortSignal,
  ): Promise<RpcOutcomes> {
    const { network, calls, sent } = plan;
    const progress = new RequestProgress(calls.length);
    await Promise.all([
      this.sends.sendAll(sent, { network, ...caller }, (index, { outcome, backend }) =>
        progress.add(index, outcome, backend),
      ),
      this.read(plan, { strings, caller, progress }, signal),
    ]);
    const { outcomes, backend, failure } = progress;
    if (outcomes.every((outcome) => outcome === undefined) && backend === undefined)
      throw noResponse(network, failure);
    return { outcomes, backend: backend ?? 'none' };
  }

  /** Makes the calls that send nothing, in as many requests as the nodes' limit of calls needs. */
  private async read(plan: RpcPlan, context: ReadContext, signal: AbortSignal): Promise<void> {
    const { settings, calls, sent } = plan;
    const { progress } = context;
    const sending = new Set(sent.map(({ index }) => index));
    const reads = [...calls.keys()].filter((index) => {
      const refusal = calls[index]?.refusal;
      if (refusal !== undefined) progress.add(index, { error: refusal, isFree: true });
      return !sending.has(index) && refusal === undefined;
    });
    const parts = Array.from({ length: Math.ceil(reads.length / settings.batch) }, (_, at) =>
      reads.slice(at * settings.batch, (at + 1) * settings.batch),
    );
    const work = async (): Promise<void> => {
      for (let part = parts.shift(); part; part = parts.shift())
        await this.readPart({ ...plan, part }, context, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** Makes calls together, and those without a good response once more, at another node. */
  private async readPart(
    { network, settings, calls, part }: RpcPlan & { readonly part: readonly number[] },
    { strings, caller: { requestId, accountId }, progress }: ReadContext,
    signal: AbortSignal,
  ): Promise<void> {
    let left = part;
    let exceptBackend: string | undefined;
    try {
      for (let attempt = 1; attempt <= Math.min(READ_ATTEMPTS, settings.nodes.length); attempt += 1) {
        const body = await strings.bytesOf(bodyOf(left.flatMap((index) => calls[index] ?? [])));
        const except = exceptBackend === undefined ? {} : { exceptBackend };
        const request = { network, requestId, accountId, body, count: left.length, ...except };
        const within = attempt === 1 ? signal : AbortSignal.any([signal, AbortSignal.timeout(AGAIN_MS)]);
        const { outcomes, backend, fault } = await this.requests.send(request, within);
        if (fault !== undefined) progress.failure = fault;
        for (const [position, index] of left.entries()) {
          const outcome = outcomes.get(position);
          if (!progress.outcomes[index] || !isWeak(outcome))
            progress.add(index, outcome, fault === undefined ? backend : undefined);
        }
        left = left.filter((index) => isWeak(progress.outcomes[index]));
        if (left.length === 0) return;
        exceptBackend = backend;
      }
    } catch (error) {
      progress.failure = error;
    }
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
