import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { challengeOf, evmWallet, signedInAt } from '../wallets.js';

/** Wallets use this origin for every gateway. */
const ORIGIN = 'https://api.example';

const model = 'test-model';
const ASKED = 'Reply exactly: hi';

/** Every endpoint that takes another form of a chat completion, with a request for it. */
const ROUTES: readonly (readonly [route: string, body: object])[] = [
  ['/responses', { model, input: ASKED }],
  ['/messages', { model, max_tokens: 100, messages: [{ role: 'user', content: ASKED }] }],
  ['/completions', { model, prompt: ASKED }],
];

interface Body {
  readonly cost: { readonly usd: number };
  readonly [name: string]: unknown;
}

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({ env: { X402_PUBLIC_ORIGIN: ORIGIN } });
});

afterAll(() => platform.stop());

function post(route: string, body: object, headers: Record<string, string>): Promise<Response> {
  return fetch(platform.apiUrl + route, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const bodyOf = async (response: Response): Promise<Body> => (await response.json()) as Body;

describe.each(ROUTES)('POST %s', (route, body) => {
  it('is paid by a wallet that signs in, and returns its balance', async () => {
    const wallet = evmWallet();
    const opened = await platform.operator('POST', '/accounts', { name: 'a wallet', wallet: wallet.address });
    const id = String(opened.body['id']);
    await platform.operator('POST', `/accounts/${id}/credits`, { usd: '1.00', reference: 'gift' });
    const whole = await post(route, body, await signedInAt(ORIGIN, wallet));
    expect(whole.status).toBe(200);
    const { cost } = await bodyOf(whole);
    expect(cost.usd).toBeGreaterThan(0);
    const left = Number(whole.headers.get('x-balance-remaining'));
    expect(left).toBeCloseTo(1 - cost.usd, 9);
    await expect.poll(async () => Number((await platform.balances(id)).usd)).toBeCloseTo(left, 9);
    const stream = await post(route, { ...body, stream: true }, await signedInAt(ORIGIN, wallet));
    expect(stream.status).toBe(200);
    expect(await stream.text()).toContain('hi');
    await expect.poll(async () => Number((await platform.balances(id)).usd)).toBeLessThan(left);
  });

  it('offers the ways to pay to a request without credentials, and admits the wallet that signs in', async () => {
    const offer = await post(route, body, {});
    expect(offer.status).toBe(402);
    const required = JSON.parse(
      Buffer.from(offer.headers.get('payment-required') ?? '', 'base64').toString(),
    ) as Body;
    expect(required).toMatchObject({
      x402Version: 2,
      accepts: expect.any(Array),
      extensions: { 'sign-in-with-x': { info: { uri: expect.stringContaining(ORIGIN) } } },
    });
    expect(await bodyOf(offer)).toMatchObject({
      x402Version: 2,
      authOptions: { x402Wallet: { header: 'SIGN-IN-WITH-X' } },
    });
  });

  it('asks a wallet without money to top up', async () => {
    const wallet = evmWallet();
    const header = await wallet.signIn(challengeOf(ORIGIN));
    const response = await post(route, body, { 'SIGN-IN-WITH-X': header });
    expect(response.status).toBe(402);
    expect(response.headers.get('payment-required')).not.toBeNull();
    expect(JSON.stringify(await bodyOf(response))).toContain('Payment required');
  });
});
