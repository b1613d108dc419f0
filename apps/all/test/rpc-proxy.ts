import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TransactionSerializableEIP1559, parseTransaction } from 'viem';
import { CHECK_ID } from './scripted-node.js';

interface ProxiedCall {
  readonly id: number | string;
  readonly method: string;
  /** Some calls have no parameters. */
  readonly params?: readonly unknown[];
}

interface Trap {
  /** The start of the call: its method, or the method and its first parameter. */
  readonly call: string;
  readonly when: 'before' | 'after';
  readonly spring: () => Promise<void>;
}

/** How a node treats calls; a limited one does not call contracts. */
export type NodeMood = 'well' | 'down' | 'hanging' | 'limited';

const LOOKED = 'latest';

const DRIP_MS = 500;

const isCall = ({ method, params }: ProxiedCall, call: string): boolean =>
  [method, `${method} ${String(params?.[0])}`].includes(call);

async function drip(response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'application/json');
  while (!response.destroyed) {
    response.write(' ');
    await sleep(DRIP_MS);
  }
}

/**
 * A node that can be behind, down or hang, and at which a process can be killed while it sends a
 * transaction.
 */
export class RpcProxy {
  /** The transactions that were sent. */
  readonly sent: TransactionSerializableEIP1559[] = [];
  /** The methods of all calls but the router's checks. */
  readonly called: string[] = [];
  mood: NodeMood = 'well';
  /** Whether the response to a call arrives one byte at a time and never ends. */
  drips: (call: string) => boolean = () => false;
  /** The delay of the next call on its way to the node, and of its response. */
  lateMs: () => number = () => 0;
  private trap: Trap | undefined;
  private behind = 0;
  private isForgetful = false;

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {}

  static async start(target: string): Promise<RpcProxy> {
    const server = createServer();
    const proxy = new RpcProxy(server, target);
    server.on('request', (request, response) => void proxy.answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /**
   * Runs an action just before or after the next such call reaches the chain. With `before`, the call is
   * lost.
   */
  atNext(call: string, when: Trap['when'], act: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.trap = { call, when, spring: () => act().then(resolve, reject) };
    });
  }

  /** The node lags behind the chain by this number of blocks. */
  async whileBehind(blocks: number, act: () => Promise<void>): Promise<void> {
    this.behind = blocks;
    try {
      await act();
    } finally {
      this.behind = 0;
    }
  }

  /** The node finds no events. */
  async whileForgetful(act: () => Promise<void>): Promise<void> {
    this.isForgetful = true;
    try {
      await act();
    } finally {
      this.isForgetful = false;
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      if (this.mood === 'hanging') return;
      if (this.mood === 'down') throw new Error('down');
      if (this.drips(text)) return await drip(response);
      const call = JSON.parse(text) as ProxiedCall;
      for (const { id, method } of [call].flat()) if (id !== CHECK_ID) this.called.push(method);
      const trap = this.trap && isCall(call, this.trap.call) ? this.trap : undefined;
      if (call.method === 'eth_sendRawTransaction') this.note(call);
      if (trap) this.trap = undefined;
      if (trap?.when === 'before') {
        await trap.spring();
        return;
      }
      await sleep(this.lateMs());
      const result = await this.resultOf(call);
      await sleep(this.lateMs());
      if (trap) await trap.spring();
      response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
    } catch {
      response.socket?.destroy();
    }
  }

  private note({ params: [raw] = [] }: ProxiedCall): void {
    this.sent.push(parseTransaction(raw as `0x02${string}`));
  }

  private async resultOf(call: ProxiedCall): Promise<unknown> {
    if (this.isForgetful && call.method === 'eth_getLogs') return { jsonrpc: '2.0', id: call.id, result: [] };
    if (this.mood === 'limited' && call.method === 'eth_call')
      return { jsonrpc: '2.0', id: call.id, error: { code: -32_005, message: 'limit exceeded' } };
    if (this.behind === 0) return this.ask(call);
    const head = Number(
      ((await this.ask({ ...call, method: 'eth_blockNumber', params: [] })) as { result: string }).result,
    );
    const known = `0x${Math.max(0, head - this.behind).toString(16)}`;
    if (call.method === 'eth_blockNumber') return { jsonrpc: '2.0', id: call.id, result: known };
    const { params = [] } = call;
    const unknown = params.some(
      (param) =>
        typeof param === 'string' && /^0x[0-9a-f]{1,12}$/.test(param) && Number(param) > Number(known),
    );
    if (unknown) return { jsonrpc: '2.0', id: call.id, result: null };
    return this.ask({ ...call, params: params.map((param) => (param === LOOKED ? known : param)) });
  }

  private async ask(call: ProxiedCall): Promise<unknown> {
    const answer = await fetch(this.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call),
    });
    return answer.json();
  }
}
