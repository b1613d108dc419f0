import { LocalChain } from '@svc/infra';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, type Seller, buyer, paymentOf, sellerOn } from '../buyers.js';
import { Platform } from '../platform.js';
import { isClustered } from '../target.js';

const NOBODY = `payment_${'0'.repeat(32)}`;

let chain: LocalChain;
let seller: Seller;
let platform: Platform;

beforeAll(async () => {
  chain = await LocalChain.start();
  seller = await sellerOn(chain);
  platform = await Platform.start({ env: { ...seller.env, X402_SETTLE_WAIT_MS: '1500' } });
});
afterAll(async () => {
  await platform?.stop();
  await chain?.stop();
});
afterEach(async () => {
  await chain.call('evm_setAutomine', [true]);
  await chain.call('evm_mine', []);
});

interface Seen {
  readonly id: string;
  readonly state: string;
  readonly wallet: string;
  readonly transaction: string | null;
  readonly [name: string]: unknown;
}

const topUpUrl = (usd = 5): string => `${platform.apiUrl}/x402/top-up?amount=${usd}`;

async function send(header: string): Promise<number> {
  const response = await fetch(topUpUrl(), { method: 'POST', headers: { 'PAYMENT-SIGNATURE': header } });
  await response.text();
  return response.status;
}

const pay = async (one: Buyer, usd = 5): Promise<number> => send(await paymentOf(one, topUpUrl(usd)));

/** Pays, and waits until the payment is credited. */
async function paid(one: Buyer, usd = 5): Promise<void> {
  const header = await paymentOf(one, topUpUrl(usd));
  await expect.poll(() => send(header), { timeout: 30_000 }).toBe(200);
}

async function list(query = ''): Promise<{ data: Seen[]; nextBefore: string | null }> {
  const { status, body } = await platform.operator('GET', `/payments${query}`);
  expect(status).toBe(200);
  return body as unknown as { data: Seen[]; nextBefore: string | null };
}

async function onlyOf({ wallet }: Buyer): Promise<Seen> {
  const { data } = await list(`?wallet=${wallet.address}`);
  const [payment] = data;
  if (data.length !== 1 || !payment) throw new Error(`${data.length} payments of the wallet`);
  return payment;
}

const audit = async (scope: 'whole' | 'new' = 'whole') =>
  (await platform.operator('GET', `/payments/audit?scope=${scope}`)).body as {
    ok: boolean;
    rails: {
      creditedUsd: string;
      onChainUsd: string;
      booksUsd: string;
      unclaimed: number;
      payments: number;
    }[];
    mismatches: string[];
    unclaimed: string[];
  };

describe('200', () => {
  it('lists payments newest first, in pages, by state, rail and wallet, and returns each', async () => {
    const [one, other] = [await buyer(chain, 100), await buyer(chain, 100)];
    await paid(one, 5);
    await paid(one, 6);
    await paid(other, 7);
    const all = await list('?limit=3');
    expect(all.data.map(({ usd }) => usd)).toEqual(['7.00', '6.00', '5.00']);
    const of = `wallet=${one.wallet.address}`;
    const first = await list(`?limit=1&${of}`);
    const rest = await list(`?limit=5&${of}&before=${first.nextBefore ?? ''}`);
    expect([...first.data, ...rest.data].map(({ usd }) => usd)).toEqual(['6.00', '5.00']);
    expect((await list(`?state=CREDITED&rail=base&${of}`)).data).toHaveLength(2);
    expect((await list(`?rail=solana&${of}`)).data).toEqual([]);
    expect((await list(`?state=FAILED&${of}`)).data).toEqual([]);
    const { body } = await platform.operator('GET', `/payments/${all.data[0]?.id ?? ''}`);
    expect(body).toMatchObject({
      state: 'CREDITED',
      rail: 'base',
      wallet: other.wallet.address.toLowerCase(),
      payTo: seller.address.toLowerCase(),
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      reversals: 0,
      lastError: null,
      resolution: null,
    });
    expect(body['attempts']).toBeGreaterThan(0);
  });

  it('returns the totals of each rail in each state', async () => {
    const { body } = await platform.operator('GET', '/payments/totals');
    const { data } = await list('?state=CREDITED&rail=base&limit=1000');
    const [row] = body['data'] as Record<string, unknown>[];
    const usd = data.reduce((sum, payment) => sum + Number(payment['usd']), 0);
    expect(row).toMatchObject({
      rail: 'base',
      state: 'CREDITED',
      payments: data.length,
      usd: usd.toFixed(2),
    });
  });

  // On the cluster, other tests have made payments on their own chains.
  it.skipIf(isClustered())(
    'audits credits against chain and ledger, and reports transfers without a payment',
    async () => {
      await paid(await buyer(chain, 100), 25);
      await chain.mint(seller.address, 3);
      for (const scope of ['new', 'whole'] as const) {
        const { ok, rails, mismatches, unclaimed } = await audit(scope);
        expect({ ok, mismatches }).toEqual({ ok: true, mismatches: [] });
        const [rail] = rails;
        expect(rail?.onChainUsd).toBe(rail?.creditedUsd);
        expect(rail).toMatchObject({ rail: 'base', unclaimed: 1, unclaimedUsd: '3.00' });
        expect(unclaimed).toEqual([expect.stringMatching(/^3000000 millionths of a USDC from 0x0{40} /)]);
      }
      // The `new` scope starts at the last audit for the books, and earlier for blocks, which may be
      // replaced.
      const [whole] = (await audit('whole')).rails;
      expect(whole?.booksUsd).toBe(whole?.creditedUsd);
    },
  );

  it('continues a payment at once on request', async () => {
    const one = await buyer(chain, 100);
    await chain.call('evm_setAutomine', [false]);
    expect(await pay(one)).toBe(409);
    const { id, state } = await onlyOf(one);
    expect(state).toBe('BROADCAST');
    const { body } = await platform.operator('POST', `/payments/${id}/retry`);
    expect(body['state']).toBe('BROADCAST');
    await chain.call('evm_mine', []);
    await expect
      .poll(async () => (await platform.operator('POST', `/payments/${id}/retry`)).body['state'], {
        timeout: 20_000,
      })
      .toBe('CREDITED');
    const again = await platform.operator('POST', `/payments/${id}/retry`);
    expect([again.status, again.body['state']]).toEqual([200, 'CREDITED']);
  });
});

describe('400', () => {
  it.each([
    ['GET', '/payments?state=LOST', undefined, 'state'],
    ['GET', '/payments?rail=gold', undefined, 'rail'],
    ['GET', '/payments?limit=0', undefined, 'limit'],
    ['GET', '/payments/payment_1', undefined, 'id'],
    ['POST', `/payments/${NOBODY}/resolve`, { decision: 'fail' }, 'reason'],
    ['POST', `/payments/${NOBODY}/resolve`, { decision: 'credit', reason: 'r' }, 'transaction'],
  ])('rejects %s %s %j', async (...[method, path, body, param]) => {
    const answer = await platform.operator(method, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'INVALID_REQUEST', error: { param } });
  });
});

describe('404', () => {
  it.each(['GET /payments/', 'POST /payments/'])('rejects an unknown payment (%s)', async (call) => {
    const [method = 'GET', path = ''] = call.split(' ');
    const end = method === 'POST' ? '/retry' : '';
    const { status, body } = await platform.operator(method, `${path}${NOBODY}${end}`);
    expect([status, body['code']]).toEqual([404, 'PAYMENT_NOT_FOUND']);
  });
});

describe('409', () => {
  it('refuses to abandon a payment that can still be paid, and one that is credited', async () => {
    const one = await buyer(chain, 100);
    await chain.call('evm_setAutomine', [false]);
    expect(await pay(one)).toBe(409);
    const { id } = await onlyOf(one);
    const fail = { decision: 'fail', reason: 'it takes too long' };
    const early = await platform.operator('POST', `/payments/${id}/resolve`, fail);
    expect([early.status, early.body['code']]).toEqual([409, 'PAYMENT_DECISION_REFUSED']);
    await chain.call('evm_setAutomine', [true]);
    await chain.call('evm_mine', []);
    await expect.poll(async () => (await onlyOf(one)).state, { timeout: 20_000 }).toBe('CREDITED');
    const late = await platform.operator('POST', `/payments/${id}/resolve`, fail);
    expect([late.status, late.body['code']]).toEqual([409, 'PAYMENT_DECISION_REFUSED']);
  });
});
