import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';
import { evmWallet, signedInAt, solanaWallet } from '../wallets.js';

const ORIGIN = 'https://api.example';
const NOBODY = '11111111-1111-4111-8111-111111111111';
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  // The refusals of suspended accounts would trigger the failure block.
  platform = await Platform.start({
    env: { X402_PUBLIC_ORIGIN: ORIGIN },
  });
});

afterAll(() => platform.stop());

const suspend = (account: string): ReturnType<Platform['operator']> =>
  platform.operator('PUT', `/accounts/${account}/suspension`, { reason: 'unpaid' });
const resume = (account: string): ReturnType<Platform['operator']> =>
  platform.operator('DELETE', `/accounts/${account}/suspension`);

const chat = async (apiKey: string): Promise<string> => {
  const response = await platform.chat(apiKey, HELLO);
  return `${response.status} ${(await errorOf(response)).code}`;
};

/** Pause between requests to a gateway, so that a hundred requests take at least a second. */
const PAUSE_MS = 10;
const WITHIN_A_SECOND = 100;

describe('a suspended account', () => {
  it('is refused with its own code on every route that accepts its credentials, and served again once resumed', async () => {
    const { account, adminKey } = await AccountKeys.of(platform);
    const suspended = await suspend(account.id);
    expect(suspended.status).toBe(200);
    expect(suspended.body).toMatchObject({ state: 'suspended', suspension: { reason: 'unpaid' } });
    const refused = await Promise.all([
      platform.chat(account.apiKey, HELLO),
      ...['models', 'api_keys', 'billing/balance', 'characters'].map((path) =>
        fetch(`${platform.apiUrl}/${path}`, { headers: { authorization: `Bearer ${adminKey}` } }),
      ),
    ]);
    for (const response of refused) {
      const { code, error } = await errorOf(response);
      expect([response.status, code, error.type]).toEqual([403, 'ACCOUNT_SUSPENDED', 'permission_error']);
      expect(error.message).toMatch(/suspended\. Contact the operator/);
      expect(error.message).not.toContain('unpaid');
    }
    expect((await resume(account.id)).body).toMatchObject({ state: 'active', suspension: null });
    await eventually('the account is served', async () => (await chat(account.apiKey)).startsWith('200'));
  });

  it('gets the rest of a response in progress and pays for it', async () => {
    const { id, apiKey } = await platform.account('10.00');
    const messages = [{ role: 'user', content: 'go [[sim tokens=200 itl-ms=10]]' }];
    const stream = await platform.chat(apiKey, { ...HELLO, messages, stream: true });
    expect(stream.status).toBe(200);
    await suspend(id);
    await eventually('it is refused', async () => (await chat(apiKey)) === '403 ACCOUNT_SUSPENDED');
    expect((await stream.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(Number((await platform.balances(id)).usd)).toBeLessThan(10);
  });

  it('is rejected by every gateway within 1 s', async () => {
    const { id, apiKey } = await platform.account();
    const headers = { authorization: `Bearer ${apiKey}` };
    const isServed = async (gateway: string): Promise<boolean> => {
      const response = await fetch(`${gateway}/api_keys/rate_limit_logs`, { headers });
      await response.text();
      expect([200, 403]).toContain(response.status);
      return response.status === 200;
    };
    const { gatewayUrls } = platform;
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await eventually('all serve it', async () =>
        (await Promise.all(gatewayUrls.map(isServed))).every(Boolean),
      );
      await suspend(id);
      for (const gateway of gatewayUrls) {
        let count = 0;
        await eventually('a gateway refuses it', async () => {
          if (!(await isServed(gateway))) return true;
          count += 1;
          await sleep(PAUSE_MS);
          return false;
        });
        times.push(count);
      }
      await resume(id);
    }
    // The median, since a busy machine may delay some of them.
    expect(times.toSorted((a, b) => a - b)[times.length >> 1]).toBeLessThanOrEqual(WITHIN_A_SECOND);
  });
});

describe('a suspended wallet', () => {
  it.each([
    ['Base', evmWallet],
    ['Solana', solanaWallet],
  ])('on %s is refused at its next sign-in, even if no operator has opened its account', async (_, make) => {
    const wallet = make();
    const shown = await suspend(wallet.address);
    expect(shown.status).toBe(200);
    const ask = async (): Promise<[number, string]> => {
      const response = await fetch(`${platform.apiUrl}/chat/completions`, {
        method: 'POST',
        headers: { ...(await signedInAt(ORIGIN, wallet)), 'content-type': 'application/json' },
        body: JSON.stringify(HELLO),
      });
      return [response.status, (await errorOf(response)).code];
    };
    expect(await ask()).toEqual([403, 'ACCOUNT_SUSPENDED']);
    await resume(wallet.address);
    expect(await ask()).toEqual([402, 'PAYMENT_REQUIRED']);
    const { body } = await platform.operator('GET', `/accounts/${wallet.address}`);
    expect(body).toMatchObject({ id: shown.body['id'], state: 'active', tier: 'standard', paid: true });
  });
});

describe('the list of keys', () => {
  it('contains the keys of an account, and an operator revokes one of them', async () => {
    const { id: accountId, apiKey } = await platform.account();
    const list = await platform.operator('GET', `/api_keys?accountId=${accountId}`);
    expect(list.body['data']).toEqual([
      expect.objectContaining({ accountId, state: 'active', last6Chars: apiKey.slice(-6), revokedAt: null }),
    ]);
    const [{ id = '' } = {}] = list.body['data'] as { id?: string }[];
    expect(await chat(apiKey)).toMatch(/^200/);
    const revoked = await platform.operator('DELETE', `/api_keys/${id}`);
    expect([revoked.status, revoked.body['state'], revoked.body['revokedBy']]).toEqual([
      200,
      'revoked',
      'operator:operator',
    ]);
    await eventually('the key is wrong', async () => (await chat(apiKey)) === '401 AUTHENTICATION_FAILED');
    const again = await platform.operator('DELETE', `/api_keys/${id}`);
    // When a key was last used is stored some time after its use.
    expect({ ...again.body, lastUsedAt: undefined }).toEqual({ ...revoked.body, lastUsedAt: undefined });
  });

  it('shows who revoked a key first, customers included', async () => {
    const { account, adminKey } = await AccountKeys.of(platform);
    const listed = async (): Promise<{ id: string; last6Chars: string; revokedBy: string | null }[]> => {
      const { body } = await platform.operator('GET', `/api_keys?accountId=${account.id}`);
      return body['data'] as Awaited<ReturnType<typeof listed>>;
    };
    const keyOf = async (secret: string) =>
      (await listed()).find(({ last6Chars }) => last6Chars === secret.slice(-6));
    const admin = await keyOf(adminKey);
    const victim = await keyOf(account.apiKey);
    await fetch(`${platform.apiUrl}/api_keys?id=${victim?.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${adminKey}` },
    });
    await platform.operator('DELETE', `/api_keys/${victim?.id}`);
    expect(await keyOf(account.apiKey)).toMatchObject({ revokedBy: `key:${admin?.id}` });
    expect(admin?.revokedBy).toBeNull();
  });

  it('contains no unknown key', async () => {
    const { status, body } = await platform.operator('DELETE', `/api_keys/${NOBODY}`);
    expect([status, body['code']]).toEqual([404, 'API_KEY_NOT_FOUND']);
  });
});

describe('the list of accounts', () => {
  it('is searched by name, filtered by state and paged', async () => {
    const name = `needle ${Math.random()}`;
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { id } = await platform.account('0', { name: `${name} ${count}` });
      ids.unshift(id);
    }
    const list = async (query: string): Promise<{ ids: string[]; nextBefore: string | null }> => {
      const path = `/accounts?search=${encodeURIComponent(name.toUpperCase())}&${query}`;
      const { status, body } = await platform.operator('GET', path);
      expect(status).toBe(200);
      const data = body['data'] as { id: string }[];
      return { ids: data.map(({ id }) => id), nextBefore: body['nextBefore'] as string | null };
    };
    expect(await list('limit=1')).toEqual({ ids: ids.slice(0, 1), nextBefore: ids[0] });
    expect(await list(`before=${ids[0]}`)).toEqual({ ids: ids.slice(1), nextBefore: null });
    await suspend(ids[1] ?? '');
    expect((await list('state=suspended')).ids).toEqual([ids[1]]);
  });

  it.each(['state=gone', 'limit=0', 'before=x', 'search=', 'kind=robot', 'more=1'])(
    'rejects %s',
    async (query) => {
      const { status, body } = await platform.operator('GET', `/accounts?${query}`);
      expect([status, body['code']]).toEqual([400, 'INVALID_REQUEST']);
    },
  );
});
