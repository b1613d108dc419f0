import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Problem } from '@svc/contracts';
import type { JsonText } from '@svc/runtime';
import { PROBES } from './methods.js';
import { type NodeAnswer, isWeak } from './node-answers.js';
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

/** What the nodes answered: for each call its answer, or `undefined` if no node answered it. */
export interface RpcAnswers {
  readonly answers: readonly (NodeAnswer | undefined)[];
  readonly backend: string;
}

/** The answers to a request so far. */
class Gathered {
  readonly answers: (NodeAnswer | undefined)[];
  backend: string | undefined;
  failure: unknown;

  constructor(count: number) {
    this.answers = Array.from({ length: count }, () => undefined);
  }

  add(index: number, answer: NodeAnswer | undefined, backend?: string): void {
    this.answers[index] = answer;
    this.backend ??= backend;
  }
}

interface ReadContext {
  readonly strings: JsonText['strings'];
  readonly caller: RpcCaller;
  readonly gathered: Gathered;
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

  /** Makes all calls. Refuses: UNAVAILABLE or REQUEST_TIMEOUT if none of them was answered. */
  async call(
    plan: RpcPlan,
    { strings, caller }: { readonly strings: JsonText['strings']; readonly caller: RpcCaller },
    signal: AbortSignal,
  ): Promise<RpcAnswers> {
    const { network, calls, sent } = plan;
    const gathered = new Gathered(calls.length);
    await Promise.all([
      this.sends.sendAll(sent, { network, ...caller }, (index, { answer, backend }) =>
        gathered.add(index, answer, backend),
      ),
      this.read(plan, { strings, caller, gathered }, signal),
    ]);
    const { answers, backend, failure } = gathered;
    if (answers.every((answer) => answer === undefined) && backend === undefined)
      throw unanswered(network, failure);
    return { answers, backend: backend ?? 'none' };
  }

  /** Makes the calls that send nothing, in as many requests as the nodes' limit of calls needs. */
  private async read(plan: RpcPlan, context: ReadContext, signal: AbortSignal): Promise<void> {
    const { settings, calls, sent } = plan;
    const { gathered } = context;
    const sending = new Set(sent.map(({ index }) => index));
    const reads = [...calls.keys()].filter((index) => {
      const refusal = calls[index]?.refusal;
      if (refusal !== undefined) gathered.add(index, { error: refusal, isFree: true });
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

  /** Makes calls together, and those without a good answer once more, at another node. */
  private async readPart(
    { network, settings, calls, part }: RpcPlan & { readonly part: readonly number[] },
    { strings, caller: { requestId, accountId }, gathered }: ReadContext,
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
        const { answers, backend, fault } = await this.requests.send(request, within);
        if (fault !== undefined) gathered.failure = fault;
        for (const [position, index] of left.entries()) {
          const answer = answers.get(position);
          if (!gathered.answers[index] || !isWeak(answer))
            gathered.add(index, answer, fault === undefined ? backend : undefined);
        }
        left = left.filter((index) => isWeak(gathered.answers[index]));
        if (left.length === 0) return;
        exceptBackend = backend;
      }
    } catch (error) {
      gathered.failure = error;
    }
  }

  /** The networks of which a node responds, by name. */
  answering(): Promise<string[]> {
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
          const { answers } = await this.requests.send(request, AbortSignal.timeout(PROBE_MS));
          return answers.has(0);
        } catch {
          return false;
        }
      }),
    );
    return networks.flatMap(([network], index) => (responds[index] === true ? [network] : [])).toSorted();
  }
}

function unanswered(network: string, failure: unknown): Problem {
  if (failure instanceof Problem && failure.code === 'REQUEST_TIMEOUT') return failure;
  return new Problem('UNAVAILABLE', { message: `No node of ${network} responds.`, cause: failure });
}
