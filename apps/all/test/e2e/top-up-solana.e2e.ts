import { LocalSolana, noResponse } from '@svc/infra';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Buyer,
  type Seller,
  chat,
  pay,
  paymentOf,
  sellerOnSolana,
  solanaBuyer,
  topUpUrl,
} from '../buyers.js';
import { Platform } from '../platform.js';
import { HOSTILE_MESSAGES, reformed, signedTransaction } from '../solana-payments.js';
import { HOSTILE_WIRES } from '../solana-wires.js';
import { type SolanaWallet, base64 } from '../wallets.js';

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const fault = await LocalSolana.fault();
if (fault !== undefined) process.emitWarning(`Payments on Solana are not tested. ${fault}`);

let chain: LocalSolana;
let seller: Seller & { readonly feePayer: string };
let platform: Platform;

beforeAll(async () => {
  if (fault !== undefined) return;
  chain = await LocalSolana.start();
  seller = await sellerOnSolana(chain);
  platform = await Platform.start({ env: seller.env });
});
afterAll(async () => {
  await platform?.stop();
  chain?.stop();
});

type Body = Record<string, unknown>;

const bodyOf = async (response: Response): Promise<Body> => (await response.json()) as Body;

/** Asks for the transaction by which a wallet pays. */
const prepared = (apiKey: string, payer: string): Promise<Response> =>
  fetch(`${platform.apiUrl}/x402/solana-transfer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ amount: '6.5', payer }),
  });

const headerOf = (one: Buyer): Promise<string> => paymentOf(one, topUpUrl(platform));

describe.skipIf(fault !== undefined)('a buyer on Solana with the client library of x402', () => {
  it('tops up, chats with and without a stream, and has the rest left', async () => {
    const { wallet, fetch: paying } = await solanaBuyer(chain, 100);
    const before = await chain.balanceOf(seller.address);
    const response = await paying(topUpUrl(platform, 25), { method: 'POST' });
    expect(await bodyOf(response)).toEqual({
      success: true,
      data: {
        walletAddress: wallet.address,
        amountCredited: 25,
        newBalance: 25,
        paymentId: expect.stringMatching(/^payment_/),
      },
    });
    expect(response.status).toBe(200);
    const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, network: SOLANA, payer: wallet.address });
    expect(chain.ledger.find(receipt.transaction)).toMatchObject({ error: null });
    expect(await chain.balanceOf(seller.address)).toBe(before + 25_000_000n);
    const answer = await chat(platform, wallet);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-svc-balance-usd')).toBe('25.00');
    const stream = await chat(platform, wallet, { stream: true });
    expect(await stream.text()).toContain('data: [DONE]');
    expect(Number(stream.headers.get('x-balance-remaining'))).toBeLessThan(25);
  });

  it('pays once, however often and under whatever header name the payment is sent', async () => {
    const one = await solanaBuyer(chain, 5);
    const header = await headerOf(one);
    const names = ['PAYMENT-SIGNATURE', 'X-402-Payment', 'X-PAYMENT'];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => pay(platform, header, names[index % names.length])),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await pay(platform, header)).status).toBe(200);
    expect((await chat(platform, one.wallet)).headers.get('x-svc-balance-usd')).toBe('5.00');
    expect(await chain.balanceOf(one.wallet.address)).toBe(0n);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });

  it('is served with the older protocol too', async () => {
    const payment = JSON.parse(
      Buffer.from(await headerOf(await solanaBuyer(chain, 5)), 'base64').toString(),
    ) as Body;
    const old = { x402Version: 1, scheme: 'exact', network: 'solana', payload: payment['payload'] };
    expect((await pay(platform, base64(old), 'X-PAYMENT')).status).toBe(200);
  });

  it('gets an error if it has not enough money', async () => {
    const response = await pay(platform, await headerOf(await solanaBuyer(chain, 1)));
    expect([response.status, (await bodyOf(response))['error']]).toEqual([
      400,
      'PAYMENT_VERIFICATION_FAILED',
    ]);
  });

  it('pays by a transaction that the service prepares, as wallets in browsers do', async () => {
    const { wallet } = await solanaBuyer(chain, 7);
    const { apiKey } = await platform.account('1.00');
    const transactions = await Promise.all(
      [1, 2].map(async () => {
        const response = await prepared(apiKey, wallet.address);
        return ((await response.json()) as { data: { transaction: string } }).data.transaction;
      }),
    );
    expect(new Set(transactions).size).toBe(2);
    const [transaction = ''] = transactions;
    const accepted = { scheme: 'exact', network: SOLANA };
    const unsigned = base64({ x402Version: 2, accepted, payload: { transaction } });
    expect((await bodyOf(await pay(platform, unsigned)))['error']).toBe('PAYMENT_VERIFICATION_FAILED');
    const signed = await signedTransaction(wallet, transaction);
    const header = base64({ x402Version: 2, accepted, payload: { transaction: signed } });
    const answers = await Promise.all([pay(platform, header), pay(platform, header)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await chain.balanceOf(wallet.address)).toBe(500_000n);
    expect((await chat(platform, wallet)).headers.get('x-svc-balance-usd')).toBe('6.50');
    const refused = await Promise.all([
      bodyOf(await prepared(apiKey, seller.address)),
      bodyOf(await prepared(apiKey, '1'.repeat(44))),
      bodyOf(await prepared(apiKey, 'nobody')),
    ]);
    expect(JSON.stringify(refused.map(({ error }) => error))).toMatch(
      /another wallet.*must be the address.*Solana/,
    );
  });

  it('calls the node a few times for 200 prepared payments at once, and ends in an error if it hangs', async () => {
    const [{ wallet }, { apiKey }] = await Promise.all([solanaBuyer(chain, 1), platform.account('1.00')]);
    let hangs = false;
    let calls = 0;
    chain.interference = (method) => {
      if (method !== 'getLatestBlockhash') return undefined;
      calls += 1;
      return hangs ? noResponse : undefined;
    };
    const outcomes = async (count: number): Promise<string[]> =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const response = await prepared(apiKey, wallet.address);
          const { error } = (await response.json()) as { error?: { message: string } };
          return `${response.status} ${error?.message ?? ''}`;
        }),
      );
    const startMs = Date.now();
    expect(new Set(await outcomes(200))).toEqual(new Set(['200 ']));
    // Once by each of at most three replicas, and again whenever the block is no longer recent.
    expect(calls).toBeLessThanOrEqual(3 * (2 + (Date.now() - startMs) / 2_000));
    hangs = true;
    const failed = '503 The blockchain node is not responding. Retry later.';
    await expect.poll(() => outcomes(1), { timeout: 30_000 }).toEqual([failed]);
    calls = 0;
    expect(new Set(await outcomes(200))).toEqual(new Set([failed]));
    expect(calls).toBeLessThan(20);
    chain.interference = () => undefined;
    await expect.poll(() => outcomes(1), { timeout: 30_000 }).toEqual(['200 ']);
  });

  it('gets the payment terms', async () => {
    const response = await fetch(topUpUrl(platform, 10_000), { method: 'POST' });
    const body = await bodyOf(response);
    expect(response.status).toBe(402);
    expect(body).toMatchObject({
      x402Version: 2,
      accepts: [
        {
          scheme: 'exact',
          network: SOLANA,
          amount: '10000000000',
          asset: USDC,
          payTo: seller.address,
          maxTimeoutSeconds: 300,
          extra: { feePayer: seller.feePayer },
        },
      ],
    });
    expect(base64(body)).toBe(response.headers.get('payment-required'));
  });
});

describe.skipIf(fault !== undefined)('400, without a transfer, for a payment', () => {
  let one: Buyer<SolanaWallet>;
  let before: bigint;

  beforeAll(async () => {
    one = await solanaBuyer(chain, 100_000);
    before = await chain.balanceOf(seller.address);
  });
  async function refusal(content: unknown): Promise<[number, unknown]> {
    const response = await pay(platform, base64(content));
    const { error, message } = await bodyOf(response);
    expect(String(message).length).toBeGreaterThan(10);
    return [response.status, error];
  }

  it.each(HOSTILE_MESSAGES)('%s (%s)', async (_, code, change) => {
    const made = { header: await headerOf(one), wallet: one.wallet };
    expect(await refusal(await reformed(made, change))).toEqual([400, code]);
  });

  it.each(HOSTILE_WIRES)('with a transaction %s (%s)', async (_, code, change) => {
    const made = { header: await headerOf(one), wallet: one.wallet };
    expect(await refusal(change(made))).toEqual([400, code]);
  });

  it('from a wallet without a USDC account', async () => {
    const poor = await solanaBuyer(chain, 5);
    const header = await headerOf(poor);
    await chain.ledger.close(poor.wallet.address);
    const response = await pay(platform, header);
    expect([response.status, (await bodyOf(response))['error']]).toEqual([
      400,
      'PAYMENT_VERIFICATION_FAILED',
    ]);
  });

  it('none of which has moved any money', async () => {
    expect(await chain.balanceOf(seller.address)).toBe(before);
    expect(await chain.balanceOf(one.wallet.address)).toBe(100_000_000_000n);
  });
});
