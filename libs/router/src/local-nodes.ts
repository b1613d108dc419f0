import { type NetworkCall, Nodes, type Served, nodesName } from '@svc/contracts/inference';
import type { BackendCalls } from './backend-calls.js';
import { rpcMode } from './backends/rpc-call.js';

/** Calls of the nodes of blockchain networks. */
export class LocalNodes extends Nodes {
  constructor(private readonly calls: BackendCalls) {
    super();
  }

  override call({ network, isSend, ...others }: NetworkCall, signal: AbortSignal): Promise<Served<string>> {
    const { catalog, nodes, requests, settings } = this.calls;
    const kind = isSend ? ('rpc-send' as const) : ('rpc' as const);
    const routed = { ...others, kind, model: nodesName(network), backends: catalog.nodesOf(network) };
    return this.calls.firstAvailable(routed, signal, {
      ...rpcMode(routed, settings.ROUTER_RESPONSE_LIMIT_BYTES, { nodes, requests }),
      order: (able) => nodes.usable(able, routed),
    });
  }
}
