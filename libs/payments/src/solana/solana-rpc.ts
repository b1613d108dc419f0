import { z } from 'zod';
import { ChainAway } from '../chains/chain.js';
import { timedCall } from '../chains/node-calls.js';
import { postJson } from '../chains/post-json.js';

/** A node without a response in this time counts as down. */
const RESPONSE_MS = 5_000;

const RESPONSE_BYTES = 1_048_576;

const RpcResponse = z.union([
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

/** JSON-RPC calls of a node. Any fault is ChainAway, without the URL, which may contain a key. */
export class SolanaRpc {
  private id = 0;

  constructor(private readonly url: string) {}

  async call<Result>(method: string, params: readonly unknown[], result: z.ZodType<Result>): Promise<Result> {
    const response = RpcResponse.safeParse(
      await timedCall('solana', 'node', () => this.post(method, params)),
    );
    if (!response.success) throw new ChainAway(`the node's response to ${method} is not JSON-RPC`);
    if ('error' in response.data)
      throw new ChainAway(`the node refused ${method} with ${response.data.error.code}`);
    const read = result.safeParse(response.data.result);
    if (!read.success) throw new ChainAway(`the node's response to ${method} has an unexpected format`);
    return read.data;
  }

  private async post(method: string, params: readonly unknown[]): Promise<unknown> {
    this.id += 1;
    try {
      const request = { jsonrpc: '2.0', id: this.id, method, params };
      return await postJson(this.url, request, { timeoutMs: RESPONSE_MS, maxBytes: RESPONSE_BYTES });
    } catch {
      throw new ChainAway(`the node did not respond to ${method}`);
    }
  }
}
