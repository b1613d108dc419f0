import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LocalChain } from '@svc/infra';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { type Buyer, type Seller, buyer, chat, pay, paymentOf, sellerOn, topUpUrl } from '../buyers.js';
import { AccountKeys } from '../account-keys.js';
import { ConsoleBrowser } from '../console-browser.js';
import { contractSignIn } from '../contract-wallets.js';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { isClustered } from '../target.js';
import { submit } from '../wallet-payments.js';
import { base64, evmWallet } from '../wallets.js';

const BASE = 'eip155:8453';
let chain: LocalChain;
let seller: Seller;
let platform: Platform;

beforeAll(async () => {
  chain = await LocalChain.start();
  seller = await sellerOn(chain);
  platform = await Platform.start({ env: seller.env });
});
afterAll(async () => {
  await platform?.stop();
  await chain?.stop();
});

type Body = Record<string, unknown>;

const bodyOf = async (response: Response): Promise<Body> => (await response.json()) as Body;

const headerOf = (one: Buyer): Promise<string> => paymentOf(one, topUpUrl(platform));

describe('a buyer with the client library of x402', () => {
  it('tops up, chats, and has the rest left', async () => {
    const { wallet, fetch: paying } = await buyer(chain, 100);
    const before = await chain.balanceOf(seller.address);
    const response = await paying(topUpUrl(platform, 25), { method: 'POST' });
    expect(await bodyOf(response)).toEqual({
      success: true,
      data: {
        walletAddress: wallet.address.toLowerCase(),
        amountCredited: 25,
        newBalance: 25,
        paymentId: expect.stringMatching(/^payment_/),
      },
    });
    expect(response.status).toBe(200);
    const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, network: BASE });
    expect(await chain.balanceOf(seller.address)).toBe(before + 25_000_000n);
    const answer = await chat(platform, wallet);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-svc-balance-usd')).toBe('25.00');
    expect(Number(answer.headers.get('x-balance-remaining'))).toBeLessThan(25);
  });

  it('pays once, however often and under whatever header name the payment is sent', async () => {
    const one = await buyer(chain, 100);
    const header = await headerOf(one);
    const names = ['PAYMENT-SIGNATURE', 'X-402-Payment', 'X-PAYMENT'];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => pay(platform, header, names[index % names.length])),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await pay(platform, header)).status).toBe(200);
    expect((await chat(platform, one.wallet)).headers.get('x-svc-balance-usd')).toBe('5.00');
    expect(await chain.balanceOf(one.wallet.address)).toBe(95_000_000n);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });

  it('credits the account that is signed in to the console, and no other later', async () => {
    const one = await buyer(chain, 100);
    const header = await headerOf(one);
    const [keys, others] = [await AccountKeys.of(platform), await AccountKeys.of(platform)];
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    const stranger = await ConsoleBrowser.signedIn(platform, others.adminKey);
    const topUp = (by: ConsoleBrowser) =>
      by.ask<{ data: Body }>('POST', '/v1/x402/top-up', { headers: { 'payment-signature': header } });
    const { status, body } = await topUp(browser);
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({ amountCredited: 5, newBalance: 15 }),
    ]);
    // The same payment, sent again by somebody else, gives no credit and shows no balance.
    expect((await topUp(stranger)).body.data).not.toHaveProperty('newBalance');
    expect((await pay(platform, header)).status).toBe(200);
    expect((await topUp(browser)).body.data).toMatchObject({ newBalance: 15 });
    expect((await platform.balances(keys.account.id)).usd).toBe('15.00');
    expect((await platform.balances(others.account.id)).usd).toBe('10.00');
    expect((await platform.balances(one.wallet.address)).usd).toBe('0.00');
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });

  it('gets its balance when it pays, but not for a repeated payment', async () => {
    const one = await buyer(chain, 100);
    const header = await headerOf(one);
    expect((await bodyOf(await pay(platform, header)))['data']).toMatchObject({ newBalance: 5 });
    const again = await pay(platform, header);
    expect(again.status).toBe(200);
    expect((await bodyOf(again))['data']).toEqual({
      walletAddress: one.wallet.address.toLowerCase(),
      amountCredited: 5,
      paymentId: expect.stringMatching(/^payment_/),
    });
  });

  it('does not get its balance for a payment that is public on the chain', async () => {
    const one = await buyer(chain, 100);
    const header = await headerOf(one);
    const transaction = await submit(chain, header);
    await eventually('the payment is in a block', async () =>
      Boolean(await chain.call('eth_getTransactionReceipt', [transaction])),
    );
    const response = await pay(platform, header);
    expect(response.status).toBe(200);
    expect((await bodyOf(response))['data']).not.toHaveProperty('newBalance');
  });

  it('is credited the amount it paid, from many wallets at once', async () => {
    const buyers = await Promise.all(Array.from({ length: 8 }, () => buyer(chain, 20)));
    const headers = await Promise.all(buyers.map(headerOf));
    const answers = await Promise.all(headers.map((header) => pay(platform, header)));
    expect(answers.map(({ status }) => status)).toEqual(buyers.map(() => 200));
    for (const { wallet } of buyers) expect(await chain.balanceOf(wallet.address)).toBe(15_000_000n);
  });

  it('is served with the older protocol too', async () => {
    const one = await buyer(chain, 100);
    const payment = JSON.parse(Buffer.from(await headerOf(one), 'base64').toString()) as Body;
    const old = { x402Version: 1, scheme: 'exact', network: 'base', payload: payment['payload'] };
    expect((await pay(platform, base64(old), 'X-PAYMENT')).status).toBe(200);
  });
});

describe.skipIf(isClustered())('the metrics of one process', () => {
  /** The value of a series in the Prometheus format. */
  async function read(series: string): Promise<number> {
    const response = await fetch(new URL('/metrics', platform.operatorUrl), {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    const line = (await response.text()).split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length));
  }

  it('count credits of wallets, results of payments, and sign-ins', async () => {
    const series = {
      credited: 'svc_payments_credited_total{svc_payments_rail="base"}',
      ended: 'svc_payments_ended_total{svc_payments_rail="base",svc_payments_state="CREDITED"}',
      letIn: 'svc_payments_sign_ins_total{svc_problem=""}',
      refused: 'svc_payments_sign_ins_total{svc_problem="X402_SIGN_IN_INVALID_SIGNATURE"}',
      requests:
        'svc_payments_chain_call_duration_seconds_count{svc_payments_rail="base",svc_payments_peer="node",error_type=""}',
      failing: 'svc_payments_chain_failing_ratio{svc_payments_rail="base"}',
      block: 'svc_payments_chain_time_seconds{svc_payments_rail="base"}',
      affordable: 'svc_payments_affordable{svc_payments_rail="base"}',
      unknown: 'svc_payments_open{svc_payments_rail="base",svc_payments_state="UNKNOWN"}',
    };
    const all = async (): Promise<Record<string, number>> =>
      Object.fromEntries(
        await Promise.all(Object.entries(series).map(async ([name, of]) => [name, await read(of)] as const)),
      );
    const before = await all();
    const { wallet, fetch: paying } = await buyer(chain, 100);
    expect((await paying(topUpUrl(platform, 12), { method: 'POST' })).status).toBe(200);
    expect((await chat(platform, wallet)).status).toBe(200);
    const forged = await contractSignIn(platform.rootUrl, wallet, evmWallet());
    const headers = { 'SIGN-IN-WITH-X': forged };
    expect((await fetch(`${platform.apiUrl}/x402/balance/${wallet.address}`, { headers })).status).toBe(401);
    const now = await all();
    const more = (name: string): number => (now[name] ?? NaN) - (before[name] ?? NaN);
    expect([more('credited'), more('ended'), more('letIn'), more('refused')]).toEqual([12, 1, 1, 1]);
    expect(more('requests')).toBeGreaterThan(0);
    expect(now).toMatchObject({ failing: 0, unknown: 0 });
    // The signer of the test chain is rich, and its last block is the payment's.
    await eventually('the node and the signer are watched', async () => {
      const { block = 0, affordable = 0 } = await all();
      return block > Date.now() / 1_000 - 60 && affordable > 1_000;
    });
  });
});

describe('400', () => {
  it.each<[string, (payment: Body) => unknown]>([
    ['INVALID_PAYMENT_FORMAT', () => 'text'],
    ['INVALID_PAYMENT_FORMAT', () => []],
    ['INVALID_PAYMENT_FORMAT', (payment) => ({ ...payment, x402Version: 3 })],
    ['INVALID_PAYMENT', (payment) => ({ ...payment, payload: {} })],
    ['INVALID_PAYMENT', (payment) => ({ ...payment, payload: { transaction: 'AAAA' } })],
    ['UNSUPPORTED_SCHEME', (payment) => accepted(payment, { scheme: 'upto' })],
    ['UNSUPPORTED_NETWORK', (payment) => accepted(payment, { network: 'eip155:1' })],
    ['UNSUPPORTED_TOKEN', (payment) => accepted(payment, { asset: `0x${'1'.repeat(40)}` })],
    ['INVALID_PAYMENT_RECIPIENT', (payment) => accepted(payment, { payTo: `0x${'1'.repeat(40)}` })],
    ['INVALID_PAYMENT_RECIPIENT', (payment) => authorized(payment, { to: `0x${'1'.repeat(40)}` })],
    ['INVALID_PAYMENT_PAYER', (payment) => authorized(payment, { from: `0x${'0'.repeat(40)}` })],
    ['INVALID_AMOUNT', (payment) => authorized(payment, { value: '9'.repeat(40) })],
    ['AMOUNT_TOO_LOW', (payment) => authorized(payment, { value: '4999999' })],
    ['AMOUNT_TOO_HIGH', (payment) => authorized(payment, { value: '10000000001' })],
    ['PAYMENT_VERIFICATION_FAILED', (payment) => authorized(payment, { value: '6000000' })],
    ['PAYMENT_VERIFICATION_FAILED', (payment) => authorized(payment, { validBefore: '1' })],
    ['PAYMENT_VERIFICATION_FAILED', (payment) => authorized(payment, { nonce: `0x${'7'.repeat(64)}` })],
  ])('%s for an invalid payment, without a transfer (%#)', async (code, change) => {
    const one = await buyer(chain, 100);
    const payment = JSON.parse(Buffer.from(await headerOf(one), 'base64').toString()) as Body;
    const response = await pay(platform, base64(change(payment)));
    expect([response.status, (await bodyOf(response))['error']]).toEqual([400, code]);
    expect(await chain.balanceOf(one.wallet.address)).toBe(100_000_000n);
  });

  it.each<[string, (payment: Body) => Body]>([
    ['signature', signed],
    ['amount', (payment) => authorized(payment, { value: '5000001' })],
  ])('for the payer and nonce of a known payment with another %s', async (_what, change) => {
    const header = await headerOf(await buyer(chain, 100));
    expect((await pay(platform, header)).status).toBe(200);
    const payment = JSON.parse(Buffer.from(header, 'base64').toString()) as Body;
    const response = await pay(platform, base64(change(payment)));
    expect([response.status, await bodyOf(response)]).toEqual([
      400,
      {
        error: 'PAYMENT_VERIFICATION_FAILED',
        message: 'A payment with this nonce was already received with a different signature or amount.',
      },
    ]);
  });

  it('for a wallet without enough money', async () => {
    const response = await pay(platform, await headerOf(await buyer(chain, 1)));
    expect([response.status, (await bodyOf(response))['error']]).toEqual([
      400,
      'PAYMENT_VERIFICATION_FAILED',
    ]);
  });
});

const signed = (payment: Body): Body => ({
  ...payment,
  payload: { ...(payment['payload'] as Body), signature: `0x${'1'.repeat(130)}` },
});

const accepted = (payment: Body, terms: Body): Body => ({
  ...payment,
  accepted: { ...(payment['accepted'] as Body), ...terms },
});

function authorized(payment: Body, terms: Body): Body {
  const payload = payment['payload'] as { authorization: Body };
  return { ...payment, payload: { ...payload, authorization: { ...payload.authorization, ...terms } } };
}

describe('402', () => {
  it('with the ways to pay, in the body and in the header, for a request without a payment', async () => {
    const response = await fetch(topUpUrl(platform, 10_000), { method: 'POST' });
    const body = await bodyOf(response);
    expect(response.status).toBe(402);
    expect(body).toMatchObject({
      x402Version: 2,
      accepts: [
        {
          scheme: 'exact',
          network: BASE,
          amount: '10000000000',
          payTo: seller.address,
          extra: { version: '2' },
        },
      ],
    });
    expect(base64(body)).toBe(response.headers.get('payment-required'));
  });
});
