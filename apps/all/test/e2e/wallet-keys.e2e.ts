import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { type TestWallet, evmWallet, solanaWallet } from '../wallets.js';

const KINDS = [
  ['Base', evmWallet],
  ['Solana', solanaWallet],
] as const;

const ORIGIN = 'https://api.example';

const PATH = '/api_keys/generate_web3_key';

interface Body {
  readonly data?: {
    readonly id: string;
    readonly apiKey: string;
    readonly token: string;
    readonly description: string;
  };
  readonly error?: { readonly param?: string; readonly code?: string };
}

interface Reply {
  readonly status: number;
  readonly body: Body;
}

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    env: { X402_PUBLIC_ORIGIN: ORIGIN, GATEWAY_TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(async () => {
  await platform.stop();
});

/** An address of another network. */
const newAddress = (): string => `10.${[...randomBytes(3)].join('.')}`;

async function send(path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(`${platform.apiUrl}${path}`, {
    headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress(), ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function newToken(): Promise<string> {
  const { body } = await send(PATH);
  return body.data?.token ?? '';
}

/** Asks for a key, with `changes` to what the wallet would send. */
async function keyFor(wallet: TestWallet, token: string, changes: object = {}): Promise<Reply> {
  const { address } = wallet;
  const signature = await wallet.signMessage(token);
  return send(PATH, { apiKeyType: 'INFERENCE', address, token, signature, ...changes });
}

async function credited(wallet: TestWallet): Promise<string> {
  const opened = await platform.operator('POST', '/accounts', { name: 'a wallet', wallet: wallet.address });
  const id = String(opened.body['id']);
  await platform.operator('POST', `/accounts/${id}/credits`, { usd: '1', reference: 'a gift' });
  return id;
}

/** A token with other claims, and its old signature. */
function withClaims(token: string, claims: object): string {
  const [head, body = '', mark] = token.split('.');
  const earlier = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
  return [head, Buffer.from(JSON.stringify({ ...earlier, ...claims })).toString('base64url'), mark].join('.');
}

const hello = (key: string): Promise<Reply> =>
  send(
    '/chat/completions',
    { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] },
    bearer(key),
  );

describe.each(KINDS)('a key for a wallet on %s', (_, newWallet) => {
  it('pays from the credit of the wallet', async () => {
    const wallet = newWallet();
    await credited(wallet);
    const { status, body } = await keyFor(wallet, await newToken());
    expect([status, body.data?.description]).toEqual([200, 'Web3 API Key']);
    expect((await hello(body.data?.apiKey ?? '')).status).toBe(200);
  });

  it('is refused to another address, without costing the owner the token', async () => {
    const wallet = newWallet();
    const token = await newToken();
    const { status, body } = await keyFor(wallet, token, { address: newWallet().address });
    expect([status, body.error?.param]).toEqual([400, 'signature']);
    expect((await keyFor(wallet, token)).status).toBe(200);
  });
});

it('gets one key for a token, of all requests at the same time', async () => {
  const wallet = evmWallet();
  const token = await newToken();
  const replies = await Promise.all(Array.from({ length: 8 }, () => keyFor(wallet, token)));
  const made = replies.filter(({ status }) => status === 200);
  const refused = replies.filter(({ status }) => status === 400);
  expect([made.length, refused.length]).toEqual([1, 7]);
});

it('makes a key with the terms of the request, which its holder cannot widen', async () => {
  const wallet = evmWallet();
  const terms = {
    apiKeyType: 'ADMIN',
    description: 'agent',
    consumptionLimit: { usd: 0.5 },
    allowedModels: ['test-*'],
  };
  const { body } = await keyFor(wallet, await newToken(), terms);
  const key = body.data?.apiKey ?? '';
  const shown = await send(`/api_keys/${body.data?.id}`, undefined, bearer(key));
  expect(shown.body.data).toMatchObject({ description: 'agent', allowedModels: ['test-*'] });
  const wider = await send('/api_keys', { apiKeyType: 'INFERENCE', description: 'wider' }, bearer(key));
  expect([wider.status, wider.body.error?.param]).toEqual([400, 'consumptionLimit.usd']);
});

const FAULTY: [string, (token: string) => string][] = [
  ['has other claims', (token) => withClaims(token, { aud: 'https://other.example' })],
  ['is from another service', (token) => withClaims(token, { iss: 'https://other.example' })],
  ['has expired', (token) => withClaims(token, { exp: Math.floor(Date.now() / 1_000) - 1 })],
  ['nobody has issued', (token) => withClaims(token, { jti: '0'.repeat(64) })],
  ['has no third part', (token) => token.slice(0, token.lastIndexOf('.'))],
  ['is no token', () => 'token'],
  ['nests deeply', () => `a.${Buffer.from('['.repeat(700)).toString('base64url')}.c`],
];

it.each(FAULTY)('refuses a token that %s', async (_, change) => {
  const { status, body } = await keyFor(evmWallet(), change(await newToken()));
  expect([status, body.error?.param]).toEqual([400, 'token']);
});

it('refuses an address of no wallet', async () => {
  const { status, body } = await keyFor(evmWallet(), await newToken(), { address: '0x12' });
  expect([status, body.error?.param]).toEqual([400, 'address']);
});

it('refuses a suspended wallet', async () => {
  const wallet = evmWallet();
  const id = await credited(wallet);
  await platform.operator('PUT', `/accounts/${id}/suspension`, { reason: 'abuse' });
  const { status, body } = await keyFor(wallet, await newToken());
  expect([status, body.error?.code]).toEqual([403, 'ACCOUNT_SUSPENDED']);
});

it('gets at most 20 tokens a minute for each network', async () => {
  const from = newAddress();
  const replies = await Promise.all(
    Array.from({ length: 25 }, () => send(PATH, undefined, { 'x-forwarded-for': from })),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(5);
});
