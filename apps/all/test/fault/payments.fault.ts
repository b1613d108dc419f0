import { type Server, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { LocalChain } from '@svc/infra';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, type Seller, balanceOf, buyer, pay, paymentOf, sellerOn, topUpUrl } from '../buyers.js';
import { Platform } from '../platform.js';
import { type Signed, submit } from '../wallet-payments.js';

let chain: LocalChain;
let seller: Seller;

beforeAll(async () => {
  chain = await LocalChain.start();
  seller = await sellerOn(chain);
});
afterAll(async () => {
  await chain?.stop();
});
afterEach(async () => {
  await chain.call('evm_setAutomine', [true]);
  await chain.call('evm_mine', []);
});

/** A top-up waits so shortly that a block which is late is seen to be. */
const SHORT = { X402_SETTLE_WAIT_MS: '1500' };

/** However busy the machine is, a payment goes on by itself within seconds of its own time. */
const WITHIN = { timeout: 120_000, interval: 500 };

interface Paid {
  readonly status: number;
  readonly error: unknown;
  readonly retry: boolean;
}

const IN_PROGRESS: Paid = { status: 409, error: 'PAYMENT_IN_PROGRESS', retry: true };

async function paid(platform: Platform, header: string): Promise<Paid> {
  const response = await pay(platform, header);
  const { error } = (await response.json()) as { error?: unknown };
  return { status: response.status, error, retry: Number(response.headers.get('retry-after')) > 0 };
}

/** What the operator sees of the only payment of a buyer. */
async function paymentBy(platform: Platform, { wallet }: Buyer): Promise<Record<string, unknown>> {
  const { body } = await platform.operator('GET', `/payments?wallet=${wallet.address}`);
  return (body['data'] as Record<string, unknown>[])[0] ?? {};
}

/** Sends a header until it is credited, and tells what the wallet has then, and still has after it was sent again. */
async function credited(platform: Platform, one: Buyer, header: string): Promise<readonly number[]> {
  await expect.poll(async () => (await paid(platform, header)).status, WITHIN).toBe(200);
  const before = await balanceOf(platform, one);
  await expect.poll(async () => (await paid(platform, header)).status, WITHIN).toBe(200);
  return [before, await balanceOf(platform, one)];
}

describe('a signer of our own', { timeout: 400_000 }, () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await Platform.start({ env: { ...seller.env, ...SHORT } });
  });
  afterAll(async () => {
    await platform?.stop();
  });

  it('a payment whose block is late is 409 until it is there, and credited once', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await chain.call('evm_setAutomine', [false]);
    // A busy machine may not have asked the chain in time at first.
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    await expect.poll(() => paymentBy(platform, one), WITHIN).toMatchObject({ state: 'BROADCAST' });
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    expect(await balanceOf(platform, one)).toBe(0);
    await chain.call('evm_mine', []);
    await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });

  it('a process that is killed while its payment is on its way credits it after the start, once', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await chain.call('evm_setAutomine', [false]);
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    await platform.kill();
    await chain.call('evm_setAutomine', [true]);
    await chain.call('evm_mine', []);
    await platform.restart();
    await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
    expect(await credited(platform, one, header)).toEqual([5, 5]);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });

  it('a payment that somebody else has submitted is credited all the same', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await submit(chain, header);
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });
});

describe('a facilitator', { timeout: 400_000 }, () => {
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
    platform = await Platform.start({ env: { ...seller.env, ...SHORT, X402_FACILITATOR_URL: url } });
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
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });

  it('that says it has settled and has not is not believed', async () => {
    settle = () => Promise.resolve({ success: true, transaction: `0x${'ab'.repeat(32)}` });
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    await expect.poll(() => paymentBy(platform, one), WITHIN).toMatchObject({ state: 'BROADCAST' });
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    expect(await balanceOf(platform, one)).toBe(0);
  });

  it('that settles and says it has not is not believed either', async () => {
    settle = async (payload) => {
      await submit(chain, payload);
      return { success: false, errorReason: 'invalid' };
    };
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });
});
