import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FacilitatorState } from './test-chain.js';

/** The fixture's side of a facilitator. */
export interface Facilitated {
  /** Settles the payload of a payment, and returns the transaction id. */
  settle(payload: unknown): Promise<string>;
  /** The id of a transaction that does not exist. */
  lie(): string;
  /** The kinds it claims to support. */
  readonly kinds: readonly object[];
}

interface SettleRequest {
  readonly paymentPayload: { readonly payload: unknown };
}

/** A facilitator of x402 over HTTP with fault injection: it may settle, claim so, or neither. */
export class FaultyFacilitator {
  state: FacilitatorState = 'works';

  private constructor(
    private readonly server: Server,
    private readonly does: Facilitated,
  ) {}

  static async start(does: Facilitated): Promise<FaultyFacilitator> {
    const server = createServer((request, response) => {
      void (async () => {
        let text = '';
        for await (const chunk of request) text += String(chunk);
        const answer = await facilitator.answer(`${request.method} ${request.url}`, text);
        if (answer) response.end(JSON.stringify(answer));
        else response.socket?.destroy();
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const facilitator = new FaultyFacilitator(server, does);
    return facilitator;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private answer(route: string, text: string): Promise<object | undefined> {
    if (this.state === 'down') return Promise.resolve(undefined);
    if (route === 'GET /supported') return Promise.resolve({ kinds: this.does.kinds });
    if (route !== 'POST /settle') return Promise.resolve({ error: 'there is no such route' });
    return this.settled((JSON.parse(text) as SettleRequest).paymentPayload.payload);
  }

  private async settled(payload: unknown): Promise<object | undefined> {
    switch (this.state) {
      case 'works':
        return { success: true, transaction: await this.does.settle(payload) };
      case 'lies':
        return { success: true, transaction: this.does.lie() };
      case 'denies':
        await this.does.settle(payload);
        return { success: false, errorReason: 'invalid' };
      case 'hangs':
        await this.does.settle(payload);
        return undefined;
      case 'down':
        return undefined;
    }
  }
}
