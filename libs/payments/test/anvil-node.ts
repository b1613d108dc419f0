import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postJson } from '../src/chains/post-json.js';
import type { NodeState } from './test-chain.js';

interface AnvilCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const LATEST = 'latest';

const BOUNDS = { timeoutMs: 30_000, maxBytes: 100_000_000 };

/** A node of a real chain that may be down, stop following blocks, or execute calls without responding. */
export class AnvilNode {
  private state: NodeState = 'up';
  /** The last block it knows while it is behind. */
  private known = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {}

  static async start(target: string): Promise<AnvilNode> {
    const server = createServer();
    const node = new AnvilNode(server, target);
    server.on('request', (request, response) => void node.answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async setState(state: NodeState): Promise<void> {
    this.state = state;
    if (state === 'behind') this.known = await this.head();
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  /** Never rejects: a failed call's connection is cut. */
  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const answer = await this.respond(JSON.parse(text) as AnvilCall);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    } catch {
      response.socket?.destroy();
    }
  }

  private async respond(call: AnvilCall): Promise<unknown> {
    switch (this.state) {
      case 'up':
        return this.forward(call);
      case 'down':
        throw new Error('it is down');
      case 'hangs':
        await this.forward(call);
        throw new Error('it took too long');
      case 'behind':
        return this.respondBehind(call);
    }
  }

  private respondBehind(call: AnvilCall): unknown {
    const known = `0x${this.known.toString(16)}`;
    const given = (result: unknown): object => ({ jsonrpc: '2.0', id: call.id, result });
    if (call.method === 'eth_blockNumber') return given(known);
    const isUnknown = (param: unknown): boolean =>
      typeof param === 'string' && /^0x[0-9a-f]{1,12}$/.test(param) && Number(param) > this.known;
    if (call.params.some(isUnknown)) return given(null);
    return this.forward({ ...call, params: call.params.map((param) => (param === LATEST ? known : param)) });
  }

  private async head(): Promise<number> {
    const call = { id: 1, method: 'eth_blockNumber', params: [] };
    return Number(((await this.forward(call)) as { result: string }).result);
  }

  private forward(call: AnvilCall): Promise<unknown> {
    return postJson(this.target, { jsonrpc: '2.0', ...call }, BOUNDS);
  }
}
