import { Injectable } from '@nestjs/common';
import { Nodes } from '@svc/contracts/inference';
import { type NodeOutcome, nodeOutcomes } from './node-outcomes.js';

/** A call for a node, with the JSON text of its parameters. */
export interface NodeCall {
  readonly method: string;
  readonly params: string | undefined;
}

/** Calls for one node together. */
export interface NodeRequest {
  readonly network: string;
  readonly requestId: string;
  readonly accountId: string;
  /** What `bodyOf` the calls has, with its long strings. */
  readonly body: readonly Uint8Array[];
  readonly count: number;
  /** Whether no other node may be called once one may have got the request. */
  readonly isSend?: boolean;
  /** The only node that may be called. */
  readonly backend?: string;
  /** A node that is not to be called. */
  readonly exceptBackend?: string;
}

/** The outcomes at a node, by the positions of the calls. */
export interface NodeResponse {
  readonly outcomes: ReadonlyMap<number, NodeOutcome>;
  readonly backend: string;
  readonly finalizedBlock?: number;
  /** Why the response could not be read, if so. */
  readonly fault?: unknown;
}

/** Requests to the nodes of networks, through the router. */
@Injectable()
export class NodeRequests {
  constructor(private readonly nodes: Nodes) {}

  /** Rejects as the router does. */
  async send(
    { network, count, isSend = false, ...call }: NodeRequest,
    signal: AbortSignal,
  ): Promise<NodeResponse> {
    const { result, ...servedBy } = await this.nodes.call({ network, isSend, ...call }, signal);
    try {
      return { outcomes: await nodeOutcomes(result, count, isSend), ...servedBy };
    } catch (fault) {
      return { outcomes: new Map(), ...servedBy, fault };
    }
  }
}

/** The JSON-RPC request for a node, with ids of its own. */
export function bodyOf(calls: readonly NodeCall[]): string {
  const texts = calls.map(({ method, params }, id) => {
    const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
    return params === undefined ? `${head}}` : `${head},"params":${params}}`;
  });
  return texts.length > 1 ? `[${texts.join(',')}]` : texts.join('');
}
