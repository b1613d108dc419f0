import { type Server, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { LocalChain } from '@svc/infra';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, buyer, paymentOf } from '../buyers.js';
import { Platform } from '../platform.js';
import { type Signed, submit } from '../wallet-payments.js';
import { challengeOf } from '../wallets.js';

const SELLER = privateKeyToAccount(generatePrivateKey()).address;

let chain: LocalChain;

beforeAll(async () => {
  chain = await LocalChain.start();
});
afterAll(async () => {
  await chain?.stop();
});
afterEach(async () => {
  await chain.call('evm_setAutomine', [true]);
  await chain.call('evm_mine', []);
});

const settings = (more: Record<string, string>) => ({
  env: {
    X402_EVM_RPC_URL: chain.url,
    X402_EVM_PAY_TO: SELLER,
    X402_EVM_CONFIRMATIONS: '1',
    X402_SETTLE_WAIT_MS: '1500',
    ...more,
  },
});

const topUpUrl = (platform: Platform): string => `${platform.apiUrl}/x402/top-up`;

interface Paid {
  readonly status: number;
  readonly error: unknown;
  readonly retry: boolean;
}

async function pay(platform: Platform, header: string): Promise<Paid> {
  const response = await fetch(topUpUrl(platform), {
    method: 'POST',
    headers: { 'PAYMENT-SIGNATURE': header },
  });
  const { error } = (await response.json()) as { error?: unknown };
  return { status: response.status, error, retry: Number(response.headers.get('retry-after')) > 0 };
}

/** What the platform says that a wallet has. */
async function balanceAt(platform: Platform, { wallet }: Buyer): Promise<number> {
  const signed = await wallet.signIn(challengeOf(platform.rootUrl));
  const response = await fetch(`${platform.apiUrl}/x402/balance/${wallet.address}`, {
    headers: { 'SIGN-IN-WITH-X': signed },
  });
  const { data } = (await response.json()) as { data: { balanceUsd: number } };
  return data.balanceUsd;
}

describe('a signer of our own', () => {
  let platform: Platform;

  beforeAll(async () => {
    const signer = generatePrivateKey();
    await chain.fund(privateKeyToAccount(signer).address);
    platform = await Platform.start(settings({ X402_EVM_SIGNER_KEY: signer }));
  });
  afterAll(async () => {
    await platform?.stop();
  });

  it('a payment whose block is late is 409 until it is there, and credited once', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await chain.call('evm_setAutomine', [false]);
    expect(await pay(platform, header)).toEqual({ status: 409, error: 'PAYMENT_IN_PROGRESS', retry: true });
    expect(await pay(platform, header)).toEqual({ status: 409, error: 'PAYMENT_IN_PROGRESS', retry: true });
    expect(await balanceAt(platform, one)).toBe(0);
    await chain.call('evm_mine', []);
    await expect.poll(() => balanceAt(platform, one), { timeout: 30_000 }).toBe(5);
    expect((await pay(platform, header)).status).toBe(200);
    expect(await balanceAt(platform, one)).toBe(5);
  });

  it('a process that is killed while its payment is on its way credits it after the start, once', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await chain.call('evm_setAutomine', [false]);
    await pay(platform, header);
    await platform.kill();
    await chain.call('evm_setAutomine', [true]);
    await chain.call('evm_mine', []);
    await platform.restart();
    await expect.poll(() => balanceAt(platform, one), { timeout: 60_000 }).toBe(5);
    expect((await pay(platform, header)).status).toBe(200);
    expect(await balanceAt(platform, one)).toBe(5);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });

  it('a payment that somebody else has submitted is credited all the same', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await submit(chain, header);
    expect((await pay(platform, header)).status).toBe(200);
    expect(await balanceAt(platform, one)).toBe(5);
  });
});

describe('a facilitator', () => {
  let platform: Platform;
  let server: Server;
  /** What it does with a payment. */
  let settle: (payload: Signed) => Promise<object>;

  beforeAll(async () => {
    server = createServer((request, response) => {
      void (async () => {
        let text = '';
        for await (const chunk of request) text += String(chunk);
        const { paymentPayload } = JSON.parse(text) as { paymentPayload: { payload: Signed } };
        response.end(JSON.stringify(await settle(paymentPayload.payload)));
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    platform = await Platform.start(settings({ X402_FACILITATOR_URL: url }));
  });
  afterAll(async () => {
    await platform?.stop();
    server.close();
  });

  it('that settles is what a payment is credited by', async () => {
    settle = async (payload) => ({
      success: true,
      transaction: await submit(chain, payload),
      network: 'eip155:8453',
    });
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    expect((await pay(platform, header)).status).toBe(200);
    expect(await balanceAt(platform, one)).toBe(5);
  });

  it('that says it has settled and has not is not believed', async () => {
    settle = () => Promise.resolve({ success: true, transaction: `0x${'ab'.repeat(32)}` });
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    expect((await pay(platform, header)).status).toBe(409);
    expect(await balanceAt(platform, one)).toBe(0);
  });

  it('that settles and says it has not is not believed either', async () => {
    settle = async (payload) => {
      await submit(chain, payload);
      return { success: false, errorReason: 'invalid' };
    };
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    expect((await pay(platform, header)).status).toBe(200);
    expect(await balanceAt(platform, one)).toBe(5);
  });
});
