import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Catalog, rpcModel } from '@svc/catalog';
import { InferenceRouter, Problem } from '@svc/contracts';
import type { JsonText } from '@svc/runtime';
import { PROBES } from './methods.js';
import { type NodeAnswer, nodeAnswers } from './node-answers.js';
import type { PlannedCall, RpcPlan } from './rpc-plan.js';

/** Requests to nodes at the same time, for one request of a client. */
const AT_ONCE = 8;

/** How long a network is known to respond or not, and how long it is waited for. */
const KNOWN_MS = 10_000;
const PROBE_MS = 2_000;

interface RpcCaller {
  readonly requestId: string;
  readonly accountId: string;
}

/** What the nodes answered: for each call its answer, or `undefined` if no node answered it. */
export interface RpcAnswers {
  readonly answers: readonly (NodeAnswer | undefined)[];
  readonly backend: string;
}

type Batch = Pick<RpcPlan, 'network' | 'isList'> & {
  readonly calls: readonly Omit<PlannedCall, 'credits'>[];
};

/** Calls the nodes of blockchain networks. */
@Injectable()
export class RpcNodes {
  private known: { readonly untilMs: number; readonly networks: Promise<string[]> } | undefined;

  constructor(
    private readonly router: InferenceRouter,
    private readonly catalog: Catalog,
  ) {}

  /** Makes all calls. Refuses: UNAVAILABLE or REQUEST_TIMEOUT if none of them was answered. */
  async call(
    plan: RpcPlan,
    { strings, caller }: { readonly strings: JsonText['strings']; readonly caller: RpcCaller },
    signal: AbortSignal,
  ): Promise<RpcAnswers> {
    const { calls, settings } = plan;
    const starts = Array.from(
      { length: Math.ceil(calls.length / settings.batch) },
      (_, at) => at * settings.batch,
    );
    const answers: (NodeAnswer | undefined)[] = calls.map(() => undefined);
    let backend: string | undefined;
    let failure: unknown;
    const work = async (): Promise<void> => {
      for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
        const part = calls.slice(start, start + settings.batch);
        try {
          const sent = { ...plan, calls: part };
          const found = await this.sent(sent, { body: await strings.bytesOf(bodyOf(sent)), caller }, signal);
          backend ??= found.backend;
          for (const [id, answer] of found.answers) answers[start + id] = answer;
        } catch (error) {
          failure = error;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, starts.length) }, work));
    if (backend === undefined) throw unanswered(plan.network, failure);
    return { answers, backend };
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
        const calls = [{ id: '0', method: PROBES[family], params: undefined }];
        const batch = { network, calls, isList: false };
        const caller = { requestId: randomUUID(), accountId: randomUUID() };
        try {
          const call = { body: [Buffer.from(bodyOf(batch))], caller };
          const { answers } = await this.sent(batch, call, AbortSignal.timeout(PROBE_MS));
          return answers.has(0);
        } catch {
          return false;
        }
      }),
    );
    return networks.flatMap(([network], index) => (responds[index] === true ? [network] : [])).toSorted();
  }

  private async sent(
    { network, calls }: Batch,
    { body, caller }: { readonly body: readonly Uint8Array[]; readonly caller: RpcCaller },
    signal: AbortSignal,
  ): Promise<{ answers: Map<number, NodeAnswer>; backend: string }> {
    const call = { kind: 'rpc' as const, ...caller, model: rpcModel(network), body };
    const response = await this.router.complete(call, signal);
    return { answers: nodeAnswers(response.body, calls.length), backend: response.backend };
  }
}

/** The JSON-RPC request for a node, with ids of its own. */
function bodyOf({ calls, isList }: Batch): string {
  const texts = calls.map(({ method, params }, id) => {
    const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
    return params === undefined ? `${head}}` : `${head},"params":${params}}`;
  });
  return isList && texts.length > 1 ? `[${texts.join(',')}]` : texts.join('');
}

function unanswered(network: string, failure: unknown): Problem {
  if (failure instanceof Problem && failure.code === 'REQUEST_TIMEOUT') return failure;
  return new Problem('UNAVAILABLE', { message: `No node of ${network} responds.`, cause: failure });
}
