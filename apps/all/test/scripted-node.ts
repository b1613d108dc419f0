import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** A call as a node gets it. */
export interface SentCall {
  readonly jsonrpc: string;
  readonly id: number;
  readonly method: string;
  readonly params?: unknown;
}

/** The response of a node; `undefined` breaks the connection. */
type ScriptedResponse =
  | {
      readonly status?: number;
      readonly body: string | Uint8Array | AsyncIterable<string>;
      readonly encoding?: string;
    }
  | undefined;

/** The id of the calls by which the router checks a node. */
export const CHECK_ID = 'check';

/** A node that answers as the test says, and records what it gets, except the router's checks. */
export class ScriptedNode {
  readonly sent: string[] = [];
  chainId = '0x2105';
  answer: (calls: readonly SentCall[]) => ScriptedResponse | Promise<ScriptedResponse> = echo;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedNode> {
    const server = createServer();
    const node = new ScriptedNode(server);
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => void node.respond(Buffer.concat(parts).toString(), response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return node;
  }

  /** The methods that it got, in their order. */
  get methods(): string[] {
    return this.sent.flatMap((text) =>
      [JSON.parse(text) as SentCall | SentCall[]].flat().map(({ method }) => method),
    );
  }

  private async respond(text: string, response: ServerResponse): Promise<void> {
    const { id, method } = JSON.parse(text) as { readonly id?: unknown; readonly method?: string };
    if (id === CHECK_ID) {
      const result = method === 'eth_chainId' ? this.chainId : '0x1';
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      return;
    }
    this.sent.push(text);
    const answer = await this.answer([JSON.parse(text) as SentCall | SentCall[]].flat());
    if (!answer) response.destroy();
    else {
      const { status = 200, body, encoding = 'identity' } = answer;
      response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': encoding });
      if (typeof body === 'string' || body instanceof Uint8Array) response.end(body);
      // Its client may disconnect before the end.
      else await pipeline(body, response).catch(() => undefined);
    }
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

export const resultOf = ({ id, method }: SentCall): object => ({ jsonrpc: '2.0', id, result: method });
const listOf = (items: readonly object[], isList: boolean): string =>
  JSON.stringify(isList ? items : (items[0] ?? {}));
export const echo = (calls: readonly SentCall[]): { body: string } => ({
  body: listOf(calls.map(resultOf), calls.length > 1),
});
