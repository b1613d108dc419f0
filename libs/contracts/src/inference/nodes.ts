import type { CallOrigin, Served } from './calls.js';

const PREFIX = '#crypto-rpc-';

/**
 * The name of a network's nodes where models have theirs: between processes, in metrics and in traces. No
 * model's id has a `#`.
 */
export const nodesName = (network: string): string => `${PREFIX}${network}`;

/** The network whose nodes have this name, if any has. */
export const networkOfNodes = (name: string): string | undefined =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;

/** A request for one node of a blockchain network. */
export interface NetworkCall extends Omit<CallOrigin, 'model'> {
  readonly network: string;
  /** The JSON-RPC request, as it is sent. */
  readonly body: readonly Uint8Array[];
  /** Whether no other node may be called once one may have got the request. */
  readonly isSend: boolean;
  /** The name of the only node that may be called. */
  readonly backend?: string;
  /** The name of a node that is not to be called. */
  readonly exceptBackend?: string;
}

/** Calls of the nodes of blockchain networks. Rejects as `Chat` does. */
export abstract class Nodes {
  /** Resolves with the text of a response, which the caller reads: an object or a list. */
  abstract call(call: NetworkCall, signal: AbortSignal): Promise<Served<string>>;
}
