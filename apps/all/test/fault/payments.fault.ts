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

/** A timeout of top-ups that is short enough to notice a late block. */
const SHORT = { X402_SETTLE_WAIT_MS: '1500' };

/** However busy the machine is, a payment continues automatically within seconds of its schedule. */
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

/** The operator's view of the only payment of a buyer. */
async function paymentBy(platform: Platform, { wallet }: Buyer): Promise<Record<string, unknown>> {
  const { body } = await platform.operator('GET', `/payments?wallet=${wallet.address}`);
  return (body['data'] as Record<string, unknown>[])[0] ?? {};
}

/**
 * Sends a header until it is credited; returns the balance, after checking that sending it again does not
 * change it.
 */
async function credited(platform: Platform, one: Buyer, header: string): Promise<readonly number[]> {
  await expect.poll(async () => (await paid(platform, header)).status, WITHIN).toBe(200);
  const before = await balanceOf(platform, one);
  await expect.poll(async () => (await paid(platform, header)).status, WITHIN).toBe(200);
  return [before, await balanceOf(platform, one)];
}

describe('our own signer', { timeout: 400_000 }, () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await Platform.start({ env: { ...seller.env, ...SHORT } });
  });
  afterAll(async () => {
    await platform?.stop();
  });

  it('returns 409 for a payment whose block is late, and credits it once', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await chain.call('evm_setAutomine', [false]);
    // On a busy machine, the first responses may come before the first query to the chain.
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    await expect.poll(() => paymentBy(platform, one), WITHIN).toMatchObject({ state: 'BROADCAST' });
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    expect(await balanceOf(platform, one)).toBe(0);
    await chain.call('evm_mine', []);
    await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });

  it('credits a payment once after the restart if its process is killed while it is in transit', async () => {
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

  it('credits a payment even if a third party has submitted it', async () => {
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await submit(chain, header);
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });
});

describe('a facilitator', { timeout: 400_000 }, () => {
  let platform: Platform;
  let server: Server;
  /** How it treats a payment. */
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

  it('that settles is the basis of a credit', async () => {
    settle = async (payload) => ({
      success: true,
      transaction: await submit(chain, payload),
      network: 'eip155:8453',
    });
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });

  it('that falsely reports that it has settled is not believed', async () => {
    settle = () => Promise.resolve({ success: true, transaction: `0x${'ab'.repeat(32)}` });
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    await expect.poll(() => paymentBy(platform, one), WITHIN).toMatchObject({ state: 'BROADCAST' });
    await expect.poll(() => paid(platform, header), WITHIN).toEqual(IN_PROGRESS);
    expect(await balanceOf(platform, one)).toBe(0);
  });

  it('that settles but reports that it has not is not believed either', async () => {
    settle = async (payload) => {
      await submit(chain, payload);
      return { success: false, errorReason: 'invalid' };
    };
    const one = await buyer(chain, 10);
    const header = await paymentOf(one, topUpUrl(platform));
    expect(await credited(platform, one, header)).toEqual([5, 5]);
  });
});
