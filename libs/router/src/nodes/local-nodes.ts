import {
  type BackendCalls,
  BackendError,
  type LiveBackend,
  jsonHeaders,
  refuseFailure,
} from '@svc/backend-calls';
import type { Catalog } from '@svc/catalog';
import { type NetworkCall, Nodes, type Served, nodesName } from '@svc/contracts/inference';
import { type Exchange, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import type { NodeChecks } from './node-checks.js';

type NodeResult = Pick<Served<string>, 'result' | 'finalizedBlock'>;

/** For all nodes of a network together. Source: the public interface. */
const DEADLINE_MS = 30_000;

/** For one node; for a call that sends, for all of them. Whether a node has it is found out afterwards. */
const ATTEMPT_MS = 10_000;

/** The status with which some nodes send errors of JSON-RPC. */
const REJECTED = 400;
const REJECTION_BYTES = 65_536;

/** The errors of JSON-RPC in the response. Throws BackendError if it has none. */
async function rejectionOf(exchange: Exchange): Promise<string> {
  const text = await exchange.beginning(REJECTION_BYTES);
  if (hasError(text)) return text;
  throw new BackendError(exchange.status, text);
}

const RpcError = z.object({ error: z.object({ code: z.number() }) });

function hasError(text: string): boolean {
  return [jsonOrUndefined(text)].flat().some((item) => RpcError.safeParse(item).success);
}

/** Shorter ones occur in data by chance. */
const SHORTEST_CREDENTIAL = 8;

/** The response of a node that repeats its credentials, without them. */
const without = (credentials: readonly string[], text: string): string =>
  credentials
    .filter(({ length }) => length >= SHORTEST_CREDENTIAL)
    .reduce((rest, each) => rest.replaceAll(each, '…'), text);

/** Calls of the nodes of blockchain networks. */
export class LocalNodes extends Nodes {
  constructor(
    private readonly backends: BackendCalls,
    private readonly checks: NodeChecks,
    private readonly nodes: { readonly catalog: Catalog; readonly limitBytes: number },
  ) {
    super();
  }

  /**
   * Another node is called after a failure, or a response that is certainly not one of JSON-RPC; the caller
   * reads the rest.
   */
  override call({ network, isSend, ...others }: NetworkCall, signal: AbortSignal): Promise<Served<string>> {
    const kind = isSend ? ('rpc-send' as const) : ('rpc' as const);
    const call = {
      ...others,
      kind,
      model: nodesName(network),
      backends: this.nodes.catalog.nodesOf(network),
    };
    return this.backends.first(call, signal, {
      deadlineMs: isSend ? ATTEMPT_MS : DEADLINE_MS,
      attemptMs: ATTEMPT_MS,
      pauseMs: ATTEMPT_MS,
      isStream: false,
      anyStatus: true,
      order: (able) => this.checks.usable(able, call),
      at: (live) => ({
        headers: jsonHeaders,
        request: () => ({ path: '', body: call.body }),
        take: (exchange) => this.read(exchange, live),
      }),
    });
  }

  private async read(exchange: Exchange, live: LiveBackend): Promise<NodeResult> {
    const credentials = this.backends.credentials.allOf(live);
    if (exchange.status === REJECTED) return { result: without(credentials, await rejectionOf(exchange)) };
    await refuseFailure(exchange);
    const result = without(credentials, await exchange.text(this.nodes.limitBytes));
    if (!/^\s*[[{]/.test(result)) throw new Error('the response is neither an object nor a list');
    const finalizedBlock = this.checks.finalizedOf(live);
    return { result, ...(finalizedBlock !== undefined && { finalizedBlock }) };
  }
}
