import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BASE_NETWORK, BASE_USDC } from '@svc/contracts';
import type { Authorization } from '../src/header/payment-header.js';
import type { FacilitatorMood } from './played-chain.js';
import { randomHex } from './simulated-chain.js';

type Settle = (authorization: Authorization) => Promise<string>;

interface Asked {
  readonly paymentPayload: {
    readonly payload: {
      readonly signature: Authorization['signature'];
      readonly authorization: Record<keyof Authorization, `0x${string}`>;
    };
  };
}

/** A facilitator of x402 over HTTP that settles, or says so, or neither. */
export class AnvilFacilitator {
  mood: FacilitatorMood = 'works';

  private constructor(private readonly server: Server) {}

  static async start(settle: Settle): Promise<AnvilFacilitator> {
    const server = createServer((request, response) => {
      void (async () => {
        let text = '';
        for await (const chunk of request) text += String(chunk);
        const answer = await facilitator.answer(JSON.parse(text) as Asked, settle);
        if (answer) response.end(JSON.stringify(answer));
        else response.socket?.destroy();
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const facilitator = new AnvilFacilitator(server);
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

  private async answer(asked: Asked, settle: Settle): Promise<object | undefined> {
    const authorization = authorizationOf(asked);
    const network = BASE_NETWORK;
    switch (this.mood) {
      case 'works':
        return { success: true, transaction: await settle(authorization), network };
      case 'lies':
        return { success: true, transaction: randomHex(32), network };
      case 'denies':
        await settle(authorization);
        return { success: false, errorReason: 'invalid' };
      case 'hangs':
        await settle(authorization);
        return undefined;
      case 'down':
        return undefined;
    }
  }
}

function authorizationOf({ paymentPayload: { payload } }: Asked): Authorization {
  const { from, to, nonce, value, validAfter, validBefore } = payload.authorization;
  return {
    network: BASE_NETWORK,
    asset: BASE_USDC,
    from,
    to,
    nonce,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    signature: payload.signature,
  };
}
