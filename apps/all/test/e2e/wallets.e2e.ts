import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import {
  type Challenge,
  type TestWallet,
  base64,
  challengeOf,
  evmWallet,
  solanaWallet,
  signedInAt,
} from '../wallets.js';

const KINDS = [
  ['Base', evmWallet],
  ['Solana', solanaWallet],
] as const;

/** Wallets use this origin for every gateway. */
const ORIGIN = 'https://api.example';

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({ env: { X402_PUBLIC_ORIGIN: ORIGIN } });
});
afterAll(async () => {
  await platform.stop();
});

interface Body {
  readonly [name: string]: unknown;
  readonly code?: string;
  readonly cost?: { readonly usd: number };
}

const ask = (
  headers: Record<string, string>,
  body: object = HELLO,
  to = platform.apiUrl,
): Promise<Response> =>
  fetch(`${to}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const signedIn = (wallet: TestWallet): Promise<Record<string, string>> => signedInAt(ORIGIN, wallet);

const bodyOf = async (response: Response): Promise<Body> => (await response.json()) as Body;

/** Credits a wallet as an operator. */
async function credit(wallet: TestWallet, usd: string): Promise<string> {
  const opened = await platform.operator('POST', '/accounts', { name: 'a wallet', wallet: wallet.address });
  const id = String(opened.body['id']);
  await platform.operator('POST', `/accounts/${id}/credits`, { usd, reference: `gift of ${usd}` });
  return id;
}

async function funded(make: () => TestWallet, usd = '1.00'): Promise<TestWallet> {
  const wallet = make();
  await credit(wallet, usd);
  return wallet;
}

describe.each(KINDS)('a wallet on %s', (_, make) => {
  it('signs in with the library of x402 clients, and pays the cost in the response', async () => {
    const wallet = make();
    const id = await credit(wallet, '1.00');
    const response = await ask(await signedIn(wallet));
    const { cost } = await bodyOf(response);
    expect(response.status).toBe(200);
    expect(cost?.usd).toBeGreaterThan(0);
    expect(response.headers.get('x-svc-balance-usd')).toBe('1.00');
    const left = Number(response.headers.get('x-balance-remaining'));
    expect(left).toBeCloseTo(1 - (cost?.usd ?? 0), 9);
    await expect.poll(async () => Number((await platform.balances(id)).usd)).toBeCloseTo(left, 9);
  });

  it('gets its balance on a stream too', async () => {
    const wallet = await funded(make);
    const response = await ask(await signedIn(wallet), { ...HELLO, stream: true });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('data: [DONE]');
    const left = Number(response.headers.get('x-balance-remaining'));
    expect(left).toBeGreaterThan(0.9);
    expect(left).toBeLessThan(1);
  });

  it('signs in with a plain text message, under the older header name', async () => {
    const wallet = await funded(make);
    const { info } = challengeOf(ORIGIN);
    const kind = wallet.type === 'ed25519' ? 'Solana' : 'Ethereum';
    const chain = wallet.type === 'ed25519' ? '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' : '8453';
    const message = `${info.domain} wants you to sign in with your ${kind} account:
${wallet.address}

${info.statement}

URI: ${info.uri}
Version: 1
Chain ID: ${chain}
Nonce: ${info.nonce}
Issued At: ${info.issuedAt}`;
    const { address, chainId } = wallet;
    const signature = await wallet.signMessage(message);
    const payload = { address, chainId, message, signature, timestamp: Date.parse(info.issuedAt) };
    expect((await ask({ 'X-Sign-In-With-X': base64(payload) })).status).toBe(200);
  });

  it('is admitted once by the same header, sent 100 times concurrently over all gateways', async () => {
    const wallet = await funded(make);
    const headers = await signedIn(wallet);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_each, at) => {
        const { gatewayUrls } = platform;
        const response = await ask(headers, HELLO, gatewayUrls[at % gatewayUrls.length]);
        return `${response.status} ${(await bodyOf(response)).code ?? ''}`;
      }),
    );
    const counts = [...Map.groupBy(answers, (answer) => answer)].map(([answer, all]) => [answer, all.length]);
    expect(Object.fromEntries(counts)).toEqual({ '200 ': 1, '401 X402_SIGN_IN_NONCE_REUSED': 99 });
  });

  it('has at most 5 requests in progress', async () => {
    const wallet = await funded(make, '10.00');
    const headers = await Promise.all(Array.from({ length: 8 }, () => signedIn(wallet)));
    const messages = [{ role: 'user', content: '[[sim tokens=4000 itl-ms=20]]' }];
    const slow = { ...HELLO, messages, stream: true };
    const answers = await Promise.all(headers.map((each) => ask(each, slow)));
    const statuses = answers.map(({ status }) => status);
    for (const answer of answers) await answer.body?.cancel();
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  });
});

describe('402', () => {
  it('returns a new message to sign for each request without credentials, and admits a request that signs it', async () => {
    const [first, second] = await Promise.all([discovered(), discovered()]);
    expect(first.info.nonce).not.toBe(second.info.nonce);
    const wallet = await funded(evmWallet);
    expect((await ask({ 'SIGN-IN-WITH-X': await wallet.signIn(first) })).status).toBe(200);
  });

  it.each([
    ['nothing', '0'],
    ['less than 0.10 USD', '0.099999999'],
  ])('asks a wallet that has %s to top up', async (_, usd) => {
    const wallet = evmWallet();
    if (Number(usd) > 0) await credit(wallet, usd);
    const response = await ask(await signedIn(wallet));
    const body = await bodyOf(response);
    expect(response.status).toBe(402);
    expect(body).toMatchObject({
      error: 'Payment required',
      code: 'PAYMENT_REQUIRED',
      reason: 'insufficient_balance',
      currentBalanceUsd: Number(usd),
      minimumBalanceUsd: 0.1,
      minimumTopUpUsd: 5,
      suggestedTopUpUsd: 10,
      supportedTokens: ['USDC'],
      topUpInstructions: { tokenDecimals: 6, network: 'eip155:8453', minimumAmountUsd: 5 },
      siwxChallenge: { info: { domain: new URL(ORIGIN).host, version: '1' } },
    });
    expect(requiredBy(response)).toMatchObject({ x402Version: 2, accepts: expect.any(Array) });
    expect(requiredBy(response)).not.toHaveProperty('code');
    const challenge = body['siwxChallenge'] as Challenge;
    expect((await ask({ 'SIGN-IN-WITH-X': await wallet.signIn(challenge) })).status).toBe(402);
  });

  it('returns the usual error for an account with a key', async () => {
    const { apiKey } = await platform.account('0');
    const response = await platform.chat(apiKey, HELLO);
    expect([response.status, (await bodyOf(response)).code]).toEqual([402, 'INSUFFICIENT_BALANCE']);
  });
});

describe('503', () => {
  it.each<Record<string, string>>([{}, { 'PAYMENT-SIGNATURE': 'e30=' }])(
    'names the settings that are missing to sell credit (%j)',
    async (headers) => {
      const response = await fetch(`${platform.apiUrl}/x402/top-up`, { method: 'POST', headers });
      expect(response.status).toBe(503);
      const { error, message } = await bodyOf(response);
      expect(error).toBe('X402_NOT_CONFIGURED');
      expect(message).toMatch(/X402_EVM_RPC_URL, X402_EVM_PAY_TO, X402_EVM_SIGNER_KEY_FILE/);
    },
  );
});

describe('401', () => {
  it('rejects a wrong sign-in, whatever key is next to it', async () => {
    const { apiKey } = await platform.account();
    const response = await ask({ authorization: `Bearer ${apiKey}`, 'SIGN-IN-WITH-X': 'nonsense' });
    expect([response.status, (await bodyOf(response)).code]).toEqual([401, 'X402_SIGN_IN_PARSE_ERROR']);
  });

  it('rejects another wallet with a signature of this one', async () => {
    const [wallet, other] = [evmWallet(), evmWallet()];
    const { info } = challengeOf(ORIGIN);
    const header = JSON.parse(Buffer.from(await wallet.signIn({ info }), 'base64').toString()) as object;
    const response = await ask({ 'SIGN-IN-WITH-X': base64({ ...header, address: other.address }) });
    expect([response.status, (await bodyOf(response)).code]).toEqual([401, 'X402_SIGN_IN_INVALID_SIGNATURE']);
  });
});

const requiredBy = (response: Response): Body =>
  JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()) as Body;

async function discovered(): Promise<Challenge> {
  const response = await ask({});
  expect(response.status).toBe(402);
  const required = requiredBy(response);
  const body = await bodyOf(response);
  expect(body).toMatchObject(required);
  expect(body['authOptions']).toMatchObject({ x402Wallet: { header: 'SIGN-IN-WITH-X' } });
  return (required['extensions'] as Record<string, Challenge>)['sign-in-with-x'] as Challenge;
}
