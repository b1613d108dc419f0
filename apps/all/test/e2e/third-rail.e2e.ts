import { fileURLToPath } from 'node:url';
import { LocalChain } from '@svc/infra';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, type Seller, balanceOf, buyer, chat, paymentOf, sellerOn, topUpUrl } from '../buyers.js';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import type { EvmWallet } from '../wallets.js';
import { eventually } from '../response-bodies.js';

const POLYGON = 'eip155:137';
/** Source: Circle. */
const POLYGON_USDC = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
const MAIN = fileURLToPath(new URL('../third-rail.mjs', import.meta.url));
const MONTH = new Date().toISOString().slice(0, 7);

let chains: readonly [LocalChain, LocalChain];
let seller: Seller;
let platform: Platform;
let onBase: Buyer<EvmWallet>;
let onPolygon: Buyer<EvmWallet>;
let accountId: string;

/** The response of the operator's API, as text. */
async function operated(path: string, accept = 'application/json'): Promise<string> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, accept };
  const response = await fetch(`${platform.operatorUrl}${path}`, { headers });
  expect(response.status).toBe(200);
  return response.text();
}

const dataOf = async (path: string): Promise<Record<string, unknown>[]> =>
  (JSON.parse(await operated(path)) as { data: Record<string, unknown>[] }).data;

async function paid(by: Buyer<EvmWallet>, usd: number): Promise<Response> {
  const header = await paymentOf(by, topUpUrl(platform, usd));
  let response: Response | undefined;
  await eventually('the payment is credited', async () => {
    response = await fetch(topUpUrl(platform), { method: 'POST', headers: { 'PAYMENT-SIGNATURE': header } });
    return response.status === 200;
  });
  return response as Response;
}

beforeAll(async () => {
  chains = await Promise.all([LocalChain.start(), LocalChain.start({ chainId: 137, usdc: POLYGON_USDC })]);
  const [base, polygon] = chains;
  seller = await sellerOn(polygon, { prefix: 'X402_POLYGON' });
  platform = await Platform.start({
    hasOwnProcess: true,
    main: MAIN,
    env: { ...(await sellerOn(base)).env, ...seller.env },
  });
  onBase = await buyer(base, 100);
  onPolygon = await buyer(polygon, 100, POLYGON);
  const { address: wallet } = onPolygon.wallet;
  const { body } = await platform.operator('POST', '/accounts', { name: 'on Polygon', wallet });
  accountId = String(body['id']);
});
afterAll(async () => {
  await platform?.stop();
  await Promise.all((chains ?? []).map((chain) => chain.stop()));
});

describe('a rail that is one file and one row', () => {
  it('is offered beside the others, by its network and its name', async () => {
    const response = await fetch(topUpUrl(platform), { method: 'POST' });
    const { accepts } = (await response.json()) as { accepts: { network: string; payTo: string }[] };
    expect(accepts.map(({ network }) => network)).toEqual(['eip155:8453', POLYGON]);
    expect(accepts[1]?.payTo).toBe(seller.address);
    const refused = await chat(platform, onPolygon.wallet);
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({ supportedChains: ['base', 'polygon'] });
  });

  it('takes a payment of an unmodified client, which pays for a request', async () => {
    const response = await paid(onPolygon, 25);
    expect(await response.json()).toMatchObject({
      data: { walletAddress: onPolygon.wallet.address.toLowerCase(), amountCredited: 25, newBalance: 25 },
    });
    expect(await chains[1].balanceOf(seller.address)).toBe(25_000_000n);
    expect((await chat(platform, onPolygon.wallet)).status).toBe(200);
    expect(await balanceOf(platform, onPolygon)).toBeLessThan(25);
    await paid(onBase, 5);
  });

  it('has its own name in the list of payments, in their totals and in the audit', async () => {
    const [payment, ...rest] = await dataOf(`/payments?rail=polygon`);
    expect([payment, rest]).toMatchObject([{ rail: 'polygon', usd: '25.00', state: 'CREDITED' }, []]);
    expect(payment?.['accountId']).toBe(accountId);
    const totals = await dataOf('/payments/totals');
    expect(totals.map(({ rail, usd }) => [rail, usd])).toEqual(
      expect.arrayContaining([
        ['base', '5.00'],
        ['polygon', '25.00'],
      ]),
    );
    const audit = JSON.parse(await operated('/payments/audit?scope=whole')) as Record<string, unknown>;
    expect(audit).toMatchObject({
      ok: true,
      rails: [
        { rail: 'base', creditedUsd: '5.00' },
        { rail: 'polygon', creditedUsd: '25.00', onChainUsd: '25.00', booksUsd: '25.00' },
      ],
    });
  });

  it('has its own name in the books, in the statement of the account and in the exported month', async () => {
    const transfers = await dataOf(`/accounts/${accountId}/transfers?kind=deposit`);
    expect(transfers).toMatchObject([{ kind: 'deposit', debitAccount: 'deposits:polygon', amount: '25.00' }]);
    const statement = await operated(`/accounts/${accountId}/statements/${MONTH}`, 'text/csv');
    expect(statement.split('\n').filter((line) => line.includes(',deposit,'))).toEqual([
      expect.stringContaining('deposits:polygon'),
    ]);
    const month = await operated(`/ledger/months/${MONTH}`, 'text/csv');
    expect(month.split('\n').filter((line) => line.includes(',deposit,'))).toEqual([
      expect.stringMatching(/deposits:base.*,5\.00/),
      expect.stringMatching(/deposits:polygon.*,25\.00/),
    ]);
    expect(JSON.parse(await operated('/ledger/audit'))).toMatchObject({ ok: true });
  });

  it('has its own name in the metrics', async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const text = await (await fetch(new URL('/metrics', platform.operatorUrl), { headers })).text();
    const credited = [
      ...text.matchAll(/^svc_payments_credited_total\{.*svc_payments_rail="(\w+)".*\} (\S+)$/gm),
    ];
    expect(credited.map(([, rail, usd]) => [rail, usd])).toEqual([
      ['base', '5'],
      ['polygon', '25'],
    ]);
    expect(text).toMatch(/svc_payments_chain_call_duration_seconds_count\{.*svc_payments_rail="polygon"/);
    expect(text).toMatch(/svc_payments_affordable\{.*svc_payments_rail="polygon"/);
  });

  it('is among the names that a filter allows, and others are refused with them', async () => {
    const { status, body } = await platform.operator('GET', '/payments?rail=gold');
    expect([status, body['code']]).toEqual([400, 'INVALID_REQUEST']);
    expect(JSON.stringify(body)).toContain('`base` or `solana` or `polygon`');
  });
});
