import { startTestDatabase } from '@svc/storage/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys, type Key } from '../account-keys.js';
import { ConsoleBrowser } from '../console-browser.js';

import { Platform } from '../platform.js';

let database: Awaited<ReturnType<typeof startTestDatabase>>;
let client: Client;
let platform: Platform;
let keys: AccountKeys;
let key: Key;
let browser: ConsoleBrowser;

beforeAll(async () => {
  database = await startTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  platform = await Platform.start({ env: { DATABASE_URL: database.url }, hasOwnProcess: true });
  keys = await AccountKeys.of(platform);
  key = await keys.create({
    description: 'limited',
    consumptionLimit: { usd: 5 },
    requestsPerMinute: 10,
    expiresAt: '2100-01-01',
  });
  browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
  await client.query(`UPDATE gateway.console_sessions SET proven_at = now() - interval '16 minutes'`);
});

afterAll(async () => {
  await platform?.stop();
  await client?.end();
  await database?.stop();
});

const change = async (more: object): Promise<string | number> => {
  const { status, body } = await browser.ask('PATCH', '/v1/api_keys', { body: { id: key.id, ...more } });
  return body.code ?? status;
};

const create = async (apiKeyType: string): Promise<string | number> => {
  const { status, body } = await browser.ask('POST', '/v1/api_keys', {
    body: { apiKeyType, description: 'new' },
  });
  return body.code ?? status;
};

const ENDPOINT = { url: 'https://example.com/hooks', events: ['balance.low'] };

const webhook = async (method: string, path = '', body: object = {}): Promise<string | number> => {
  const response = await browser.ask(method, `/v1/webhook_endpoints${path}`, { body });
  return response.body.code ?? response.status;
};

describe('a session whose key was last proven 16 minutes ago', () => {
  it.each([
    { consumptionLimit: { usd: 6 } },
    { consumptionLimit: { usd: null } },
    { limitPeriod: 'EPOCH', consumptionLimit: { usd: 5.000000001 } },
    { requestsPerMinute: 11 },
    { requestsPerMinute: null },
    { expiresAt: null },
    { expiresAt: '2100-01-02' },
  ])('cannot give a key more: %j', async (more) => {
    expect(await change(more)).toBe('STEP_UP_REQUIRED');
  });

  it('cannot create an ADMIN key', async () => {
    expect(await create('ADMIN')).toBe('STEP_UP_REQUIRED');
  });

  it('cannot have events sent elsewhere, nor see a secret of webhooks', async () => {
    const made = await fetch(`${platform.apiUrl}/webhook_endpoints`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(ENDPOINT),
    });
    const { id } = (await made.json()) as { id: string };
    expect(await webhook('POST', '', ENDPOINT)).toBe('STEP_UP_REQUIRED');
    expect(await webhook('POST', `/${id}/rotate`)).toBe('STEP_UP_REQUIRED');
    expect(await webhook('PATCH', `/${id}`, { url: 'https://example.com/other' })).toBe('STEP_UP_REQUIRED');
    expect(await webhook('PATCH', `/${id}`, { events: ['key.expiring'], enabled: false })).toBe(200);
  });

  it('can do everything else', async () => {
    expect(await create('INFERENCE')).toBe(200);
    for (const more of [
      { description: 'renamed' },
      { consumptionLimit: { usd: 4 } },
      { requestsPerMinute: 9 },
    ])
      expect(await change(more)).toBe(200);
  });

  it('is not proven by another key, nor by one of another account', async () => {
    const stranger = await AccountKeys.of(platform);
    for (const apiKey of [key.apiKey, stranger.adminKey, 'unknown'])
      expect((await browser.ask('POST', '/session/proof', { body: { apiKey } })).status).toBe(401);
    expect(await create('ADMIN')).toBe('STEP_UP_REQUIRED');
  });

  it('can do all that again once its key has been proven', async () => {
    const { status } = await browser.ask('POST', '/session/proof', { body: { apiKey: keys.adminKey } });
    expect(status).toBe(200);
    expect(await create('ADMIN')).toBe(200);
    expect(await change({ consumptionLimit: { usd: 7 } })).toBe(200);
    expect(await webhook('POST', '', ENDPOINT)).toBe(200);
  });
});
