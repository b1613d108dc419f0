import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { type TestWallet, evmWallet, solanaWallet, signedInAt } from '../wallets.js';

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start();
});
afterAll(async () => {
  await platform.stop();
});

const signedIn = (wallet: TestWallet): Promise<Record<string, string>> =>
  signedInAt(platform.rootUrl, wallet);

async function read(path: string, wallet?: TestWallet) {
  const headers = wallet ? await signedIn(wallet) : {};
  const response = await fetch(`${platform.apiUrl}/x402/${path}`, { headers });
  const body = (await response.json()) as { code?: string; data: Record<string, unknown> };
  return { status: response.status, ...body };
}

async function funded(make: () => TestWallet): Promise<TestWallet> {
  const wallet = make();
  const opened = await platform.operator('POST', '/accounts', { name: 'a wallet', wallet: wallet.address });
  const path = `/accounts/${String(opened.body['id'])}/credits`;
  await platform.operator('POST', path, { usd: '1', reference: 'first' });
  await platform.operator('POST', path, { usd: '2', reference: 'second' });
  return wallet;
}

async function chat(wallet: TestWallet): Promise<{ id: string; usd: number }> {
  const response = await fetch(`${platform.apiUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await signedIn(wallet)) },
    body: JSON.stringify(HELLO),
  });
  const { id, cost } = (await response.json()) as { id: string; cost: { usd: number } };
  return { id, usd: cost.usd };
}

interface Transaction {
  readonly amount: number;
  readonly balanceAfter: number;
  readonly type: string;
  readonly requestId: string | null;
  readonly modelId: string | null;
}

describe.each([
  ['Base', evmWallet],
  ['Solana', solanaWallet],
] as const)('a wallet on %s', (_, make) => {
  it('gets its balance, and its payments and charges, newest first, in pages', async () => {
    const wallet = await funded(make);
    const { id, usd } = await chat(wallet);
    const balance = await read(`balance/${wallet.address}`, wallet);
    expect(balance).toMatchObject({
      status: 200,
      data: { canConsume: true, minimumTopUpUsd: 5, suggestedTopUpUsd: 10 },
    });
    expect(balance.data['balanceUsd']).toBeCloseTo(3 - usd, 9);
    const { data } = await read(`transactions/${wallet.address}`, wallet);
    const transactions = data['transactions'] as Transaction[];
    expect(transactions.map(({ type }) => type)).toEqual(['CHARGE', 'TOP_UP', 'TOP_UP']);
    expect(transactions.map(({ requestId }) => requestId)).toEqual([id, null, null]);
    expect(transactions.map(({ modelId }) => modelId)).toEqual([HELLO.model, null, null]);
    expect(transactions.map(({ amount }) => amount)).toEqual([-usd, 2, 1]);
    expect(transactions.slice(1).map(({ balanceAfter }) => balanceAfter)).toEqual([3, 1]);
    const pages = await Promise.all(
      [0, 1, 2].map((offset) => read(`transactions/${wallet.address}?limit=1&offset=${offset}`, wallet)),
    );
    expect(pages.flatMap((page) => page.data['transactions'])).toEqual(transactions);
    expect(pages.map((page) => page.data['pagination'])).toEqual([
      { limit: 1, offset: 0, hasMore: true },
      { limit: 1, offset: 1, hasMore: true },
      { limit: 1, offset: 2, hasMore: false },
    ]);
  });

  it('gets an empty history if it has none', async () => {
    const wallet = make();
    const { status, data } = await read(`balance/${wallet.address}`, wallet);
    expect(status).toBe(200);
    expect(data).toMatchObject({ balanceUsd: 0, canConsume: false });
    expect((await read(`transactions/${wallet.address}`, wallet)).data).toMatchObject({ transactions: [] });
  });
});

describe.each(['balance', 'transactions'])('%s of another', (what) => {
  it('is refused: 403 to a wallet or a key, 402 without credentials', async () => {
    const [wallet, other] = [evmWallet(), evmWallet()];
    expect(await read(`${what}/${wallet.address}`, other)).toMatchObject({
      status: 403,
      code: 'X402_WALLET_MISMATCH',
    });
    expect((await read(`${what}/${wallet.address}`)).status).toBe(402);
    const { apiKey } = await platform.account();
    const shown = await fetch(`${platform.apiUrl}/x402/${what}/${wallet.address}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(shown.status).toBe(403);
  });
});
