import type { ConsoleSession } from '@svc/api/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { ConsoleBrowser } from '../console-browser.js';
import { Platform } from '../platform.js';
import { evmWallet, solanaWallet } from '../wallets.js';

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    env: { GATEWAY_CORS_ORIGINS: '*', GATEWAY_TRUSTED_PROXIES: 'loopback' },
  });
});

afterAll(() => platform.stop());

const visitor = (): ConsoleBrowser => new ConsoleBrowser(platform.rootUrl);
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };
const FOREIGN = 'https://evil.example';

describe('the cookie of a session', () => {
  it('is for this host alone, and no script can read it', async () => {
    const keys = await AccountKeys.of(platform);
    const { status, headers, body } = await visitor().signIn({ apiKey: keys.adminKey });
    expect(status).toBe(200);
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-svc-console=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.data).toMatchObject({ kind: 'admin', accountId: keys.account.id, isCurrent: true });
    expect(JSON.stringify(body)).not.toContain(keys.adminKey);
  });

  it('counts below /console/api and nowhere else', async () => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    expect((await browser.ask('GET', '/v1/api_keys')).status).toBe(200);
    const headers = { cookie: browser.cookie ?? '', 'sec-fetch-site': 'same-origin' };
    for (const path of ['/api_keys', '/billing/balance', '/characters'])
      expect((await fetch(`${platform.apiUrl}${path}`, { headers })).status).toBe(401);
    const unpaid = await fetch(`${platform.apiUrl}/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
    });
    expect(unpaid.status).toBe(402);
  });

  it('is the only credential there: keys and wallet sign-ins are ignored', async () => {
    const keys = await AccountKeys.of(platform);
    const headers = { authorization: `Bearer ${keys.adminKey}`, 'x-api-key': keys.adminKey };
    expect((await visitor().ask('GET', '/v1/api_keys', { headers })).status).toBe(401);
    expect((await visitor().ask('POST', '/v1/chat/completions', { headers, body: HELLO })).status).toBe(401);
  });

  it('is null for a browser that has none', async () => {
    const { status, body } = await visitor().ask('GET', '/session');
    expect([status, body]).toEqual([200, { data: null }]);
  });

  it('changes with every sign-in, and the former session ends', async () => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    const former = browser.cookie;
    await browser.signIn({ apiKey: keys.adminKey });
    expect(browser.cookie).not.toBe(former);
    expect((await browser.ask('GET', '/session', { headers: { cookie: former } })).status).toBe(401);
    expect((await browser.ask('GET', '/session')).status).toBe(200);
  });

  it('is never chosen by who signs in', async () => {
    const keys = await AccountKeys.of(platform);
    const chosen = `__Host-svc-console=${'A'.repeat(43)}`;
    const browser = visitor();
    await browser.signIn({ apiKey: keys.adminKey }, { headers: { cookie: chosen } });
    expect((await browser.ask('GET', '/session', { headers: { cookie: chosen } })).status).toBe(401);
  });

  it('is in no log', async () => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    await browser.ask('GET', '/v1/api_keys');
    const [, token = ''] = /=(.*)/.exec(browser.cookie ?? '') ?? [];
    expect(token).toHaveLength(43);
    expect(await platform.log()).not.toContain(token);
  });
});

describe('a request that no page of the console sent', () => {
  const asSent = async (method: string, headers: Record<string, string | undefined>, body?: unknown) => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    const { status } = await browser.ask(method, '/v1/api_keys', { headers, body });
    const { body: list } = await browser.ask<{ data: unknown[] }>('GET', '/v1/api_keys');
    return { status, count: list.data.length };
  };
  const NEW_KEY = { apiKeyType: 'INFERENCE', description: 'forged' };

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: FOREIGN }],
    ['a sibling host', { 'sec-fetch-site': 'same-site' }],
    ['no page', { 'sec-fetch-site': 'none' }],
    ['an old browser on another origin', { 'sec-fetch-site': undefined, origin: FOREIGN }],
    ['a sandboxed frame of an old browser', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['a client without either header', { 'sec-fetch-site': undefined, origin: undefined }],
  ])('is refused if it comes from %s', async (_, headers) => {
    expect(await asSent('POST', headers, NEW_KEY)).toEqual({ status: 403, count: 2 });
    expect((await asSent('GET', headers)).status).toBe(403);
  });

  it.each([
    ['without the header of the console', { 'x-svc-console': undefined }],
    ['as plain text, which needs no preflight', { 'content-type': 'text/plain' }],
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['without a content type', { 'content-type': '' }],
  ])('changes nothing %s', async (_, headers) => {
    expect(await asSent('POST', headers, NEW_KEY)).toEqual({ status: 403, count: 2 });
  });

  it('is admitted from an old browser on the own origin', async () => {
    const headers = { 'sec-fetch-site': undefined };
    expect(await asSent('POST', headers, NEW_KEY)).toEqual({ status: 200, count: 3 });
  });

  it('gets no permission of CORS, whatever origins may call the API', async () => {
    const ask = { origin: FOREIGN, 'access-control-request-method': 'POST' };
    const api = await fetch(`${platform.apiUrl}/chat/completions`, { method: 'OPTIONS', headers: ask });
    expect(api.headers.get('access-control-allow-origin')).toBe('*');
    for (const path of ['/console/api/v1/chat/completions', '/console/api/session', '//console/api/session'])
      for (const method of ['OPTIONS', 'POST', 'GET']) {
        const { headers } = await fetch(`${platform.rootUrl}${path}`, { method, headers: ask });
        expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
  });
});

describe('a session ends', () => {
  const isOpen = async (browser: ConsoleBrowser): Promise<boolean> => {
    const answers = await Promise.all(
      platform.gatewayUrls.map((url) =>
        browser.ask('GET', '/v1/billing/balance', { to: url.replace(/\/api\/v1$/, '') }),
      ),
    );
    const isAdmitted = answers.map(({ status }) => status === 200);
    expect(new Set(isAdmitted).size).toBe(1);
    return isAdmitted[0] === true;
  };

  it('on every gateway when its key is revoked', async () => {
    const keys = await AccountKeys.of(platform);
    const admin = await keys.create({ apiKeyType: 'ADMIN', description: 'to revoke' });
    const browser = await ConsoleBrowser.signedIn(platform, admin.apiKey);
    const other = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    expect(await isOpen(browser)).toBe(true);
    await keys.ask('DELETE', { path: `?id=${admin.id}` });
    expect(await isOpen(browser)).toBe(false);
    expect(await isOpen(other)).toBe(true);
  });

  it('on every gateway when its key expires', async () => {
    const keys = await AccountKeys.of(platform);
    const admin = await keys.create({ apiKeyType: 'ADMIN', description: 'to expire' });
    const browser = await ConsoleBrowser.signedIn(platform, admin.apiKey);
    const expiresAt = new Date(Date.now() + 1_000);
    await keys.ask('PATCH', { body: { id: admin.id, expiresAt: expiresAt.toISOString() } });
    await new Promise((resolve) => setTimeout(resolve, expiresAt.getTime() - Date.now() + 100));
    expect(await isOpen(browser)).toBe(false);
  });

  it('on every gateway when it is signed out, and the browser forgets what it stored', async () => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    const former = browser.cookie;
    const { status, headers } = await browser.ask('DELETE', '/session');
    expect(status).toBe(200);
    expect(headers.get('clear-site-data')).toBe('"cache", "storage"');
    expect(headers.get('set-cookie')).toMatch(/^__Host-svc-console=; .*Max-Age=0$/);
    browser.cookie = former;
    expect(await isOpen(browser)).toBe(false);
  });

  it('when another session of the account ends it', async () => {
    const keys = await AccountKeys.of(platform);
    const browsers = [];
    for (let count = 0; count < 3; count += 1)
      browsers.push(await ConsoleBrowser.signedIn(platform, keys.adminKey));
    const [first, second, third] = browsers as [ConsoleBrowser, ConsoleBrowser, ConsoleBrowser];
    const { body } = await first.ask<{ data: ConsoleSession[] }>('GET', '/sessions');
    expect(body.data.map(({ isCurrent }) => isCurrent)).toEqual([false, false, true]);
    const stranger = await ConsoleBrowser.signedIn(platform, (await AccountKeys.of(platform)).adminKey);
    const path = `/sessions/${body.data[0]?.id}`;
    expect((await stranger.ask('DELETE', path)).status).toBe(404);
    expect(await isOpen(third)).toBe(true);
    expect((await first.ask('DELETE', path)).status).toBe(200);
    expect(await isOpen(third)).toBe(false);
    await first.ask('DELETE', '/sessions');
    expect([await isOpen(first), await isOpen(second)]).toEqual([true, false]);
  });

  it('when its account is suspended, until that is resumed', async () => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    await platform.operator('PUT', `/accounts/${keys.account.id}/suspension`, { reason: 'test' });
    const { body } = await browser.ask('GET', '/v1/billing/balance');
    expect(body.code).toBe('ACCOUNT_SUSPENDED');
  });
});

describe('a sign-in by a key', () => {
  it('gets the same response for an unknown, a revoked and an expired key', async () => {
    const keys = await AccountKeys.of(platform);
    const revoked = await keys.create({ description: 'revoked' });
    const expiring = await keys.create({
      description: 'expired',
      expiresAt: new Date(Date.now() + 500).toISOString(),
    });
    await keys.ask('DELETE', { path: `?id=${revoked.id}` });
    await new Promise((resolve) => setTimeout(resolve, 600));
    const answers = [];
    for (const apiKey of [`SVC_ADMIN_KEY_${'x'.repeat(43)}`, 'nonsense', revoked.apiKey, expiring.apiKey]) {
      const { status, body } = await visitor().signIn({ apiKey });
      answers.push({ status, error: body.error });
    }
    const [first] = answers;
    expect(first).toEqual({
      status: 401,
      error: expect.objectContaining({ message: 'Authentication failed' }),
    });
    expect(answers).toEqual(answers.map(() => first));
  });

  it('by an INFERENCE key shows that key only, and can neither list nor make keys', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ description: 'mine' });
    const browser = await ConsoleBrowser.signedIn(platform, key.apiKey);
    const { body } = await browser.ask<{ data: ConsoleSession }>('GET', '/session');
    expect(body.data).toMatchObject({ kind: 'inference', apiKey: { id: key.id, description: 'mine' } });
    for (const [method, path] of [
      ['GET', '/v1/api_keys'],
      ['POST', '/v1/api_keys'],
      ['GET', '/v1/billing/balance'],
    ] as const) {
      const sent = method === 'POST' ? { body: { apiKeyType: 'ADMIN', description: 'x' } } : {};
      expect((await browser.ask(method, path, sent)).status).toBe(401);
    }
    expect((await browser.ask('GET', '/v1/api_keys/rate_limits')).status).toBe(200);
    const other = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    const sessions = await browser.ask<{ data: ConsoleSession[] }>('GET', '/sessions');
    expect(sessions.body.data).toHaveLength(1);
    await browser.ask('DELETE', '/sessions');
    expect((await other.ask('GET', '/session')).status).toBe(200);
  });
});

describe('a sign-in by a wallet', () => {
  const WALLETS = [
    ['on Base', evmWallet],
    ['on Solana', solanaWallet],
  ] as const;
  const challenge = async (browser: ConsoleBrowser, address: string): Promise<string> => {
    const { body } = await browser.ask<{ message: string }>('POST', '/session/challenge', {
      body: { address },
    });
    return body.message;
  };

  it.each(WALLETS)(
    '%s works once with each message, and opens the account of the wallet',
    async (_, make) => {
      const wallet = make();
      const browser = visitor();
      const message = await challenge(browser, wallet.address);
      const signed = { message, signature: await wallet.signMessage(message) };
      const first = await browser.signIn(signed);
      expect(first.body).toMatchObject({ data: { kind: 'wallet', apiKey: null } });
      expect(first.body.data.wallet?.toLowerCase()).toBe(wallet.address.toLowerCase());
      expect((await browser.ask('GET', `/v1/x402/balance/${wallet.address}`)).status).toBe(200);
      const made = await browser.ask('POST', '/v1/api_keys', {
        body: { apiKeyType: 'INFERENCE', description: 'of a wallet' },
      });
      expect(made.status).toBe(200);
      expect((await visitor().signIn(signed)).status).toBe(401);
    },
  );

  it.each(WALLETS)('%s shows the address as its wallet expects it', async (_, make) => {
    const { address } = make();
    expect(
      (
        await challenge(visitor(), address.toLowerCase().startsWith('0x') ? address.toLowerCase() : address)
      ).split('\n')[1],
    ).toBe(address);
  });

  it.each(WALLETS)('%s is refused by the API', async (_, make) => {
    const wallet = make();
    const message = await challenge(visitor(), wallet.address);
    const payload = { address: wallet.address, message, signature: await wallet.signMessage(message) };
    const header = Buffer.from(JSON.stringify(payload)).toString('base64');
    const response = await fetch(`${platform.apiUrl}/x402/balance/${wallet.address}`, {
      headers: { 'sign-in-with-x': header },
    });
    expect(response.status).toBe(401);
    expect(((await response.json()) as { code: string }).code).toBe('X402_SIGN_IN_DOMAIN_MISMATCH');
  });

  it.each(WALLETS)(
    '%s takes no message that was signed for the API, nor one with another nonce',
    async (_, make) => {
      const wallet = make();
      const browser = visitor();
      const message = await challenge(browser, wallet.address);
      for (const changed of [
        message.replace(/^URI: .*$/m, `URI: ${platform.apiUrl}/chat/completions`),
        message.replace(/^URI: .*$/m, `URI: ${platform.rootUrl}/console/other`),
        message.replace(/^Nonce: .*$/m, 'Nonce: 0123456789abcdef'),
      ]) {
        const signature = await wallet.signMessage(changed);
        expect((await browser.signIn({ message: changed, signature })).status).toBe(401);
      }
      const other = make();
      const stolen = { message, signature: await other.signMessage(message) };
      expect((await browser.signIn(stolen)).status).toBe(401);
      // None of these attempts has used up the message.
      const signature = await wallet.signMessage(message);
      expect((await browser.signIn({ message, signature })).status).toBe(200);
    },
  );
});

describe('what the console spends', () => {
  it('is of no key, and streams like the API', async () => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    const response = await browser.fetch('POST', '/v1/chat/completions', {
      body: { ...HELLO, stream: true },
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('is of the key of the session if that has a limit, which so holds in the console, too', async () => {
    const keys = await AccountKeys.of(platform);
    const admin = await keys.create({
      apiKeyType: 'ADMIN',
      description: 'limited',
      consumptionLimit: { usd: 0 },
    });
    const browser = await ConsoleBrowser.signedIn(platform, admin.apiKey);
    const { status, body } = await browser.ask('POST', '/v1/chat/completions', { body: HELLO });
    expect([status, body.code]).toEqual([402, 'API_KEY_USD_SPEND_LIMIT_EXCEEDED']);
    // The rest of the console still works.
    expect((await browser.ask('GET', '/v1/billing/balance')).status).toBe(200);
  });
});

describe('failed sign-ins', () => {
  it('are refused from the eleventh on, while open sessions go on', async () => {
    const keys = await AccountKeys.of(platform);
    const browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
    const statuses: number[] = [];
    const guesser = visitor();
    for (let count = 0; count < 25; count += 1)
      statuses.push((await guesser.signIn({ apiKey: `SVC_ADMIN_KEY_${count}` })).status);
    const refused = statuses.indexOf(429);
    // Two windows of five minutes may have met.
    expect(refused).toBeGreaterThanOrEqual(10);
    expect(refused).toBeLessThanOrEqual(20);
    expect(statuses.slice(0, refused).every((status) => status === 401)).toBe(true);
    expect((await browser.ask('GET', '/session')).status).toBe(200);
    const last = await guesser.signIn({ apiKey: keys.adminKey });
    expect([last.status, Number(last.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });
});
