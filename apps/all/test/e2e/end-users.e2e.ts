import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { untilOneWindow, withinOneHour, withinOneMinute } from '../minutes.js';

const messages = [{ role: 'user', content: 'Hello' }];

/** Requests that name their end user, by the member that does it. */
const NAMED: [string, string, (user: string) => object][] = [
  ['user of a chat', '/chat/completions', (user) => ({ messages, user })],
  [
    'safety_identifier of a chat',
    '/chat/completions',
    (user) => ({ messages, user: 'other', safety_identifier: user }),
  ],
  ['user of a stream', '/chat/completions', (user) => ({ messages, user, stream: true })],
  ['safety_identifier of a response', '/responses', (user) => ({ input: 'Hello', safety_identifier: user })],
  [
    'metadata.user_id of a message',
    '/messages',
    (user) => ({ messages, max_tokens: 9, metadata: { user_id: user } }),
  ],
  ['user of a completion', '/completions', (user) => ({ prompt: 'Hello', user })],
];

const DEAR = { id: 'dear', pricing: { input: 1, output: 20 } };

const nano = (usd: number): number => Math.round(usd * 1e9);

interface UserRow {
  readonly endUser: string;
  readonly requests: number;
  readonly usd: number;
}

interface Account {
  readonly id: string;
  readonly apiKey: string;
  readonly adminKey: string;
}

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({ models: [DEAR] });
});
afterAll(() => platform.stop());

async function newAccount(): Promise<Account> {
  const { id, apiKey } = await platform.account('10.00');
  const { body } = await platform.operator('POST', `/accounts/${id}/api_keys`, {
    apiKeyType: 'ADMIN',
    description: '',
  });
  return { id, apiKey, adminKey: String(body['apiKey']) };
}

interface Sent {
  readonly method?: string;
  readonly body?: object | undefined;
  readonly to?: string | undefined;
}

function send(path: string, key: string, { body, method, to }: Sent = {}): Promise<Response> {
  return fetch(`${to ?? platform.apiUrl}${path}`, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** As `send`, again while the service is busy: a slow machine may not take that many at once. */
async function sendUntilTaken(...sent: Parameters<typeof send>): Promise<Response> {
  for (;;) {
    const response = await send(...sent);
    if (response.status !== 503) return response;
    await response.text();
    await sleep(100);
  }
}

/** Makes a request and returns its id. */
async function ask(path: string, key: string, body: object): Promise<string | null> {
  const response = await send(path, key, { body: { model: 'test-model', ...body } });
  await response.text();
  expect(response.status).toBe(200);
  return response.headers.get('x-request-id');
}

async function read<Row>(path: string, key: string): Promise<Row[]> {
  const response = await send(path, key);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Row[] }).data;
}

const requestsOf = async (key: string, user: string): Promise<string[]> =>
  (await read<{ requestId: string }>(`/billing/requests?user=${user}`, key)).map(
    ({ requestId }) => requestId,
  );

describe('the end user of a request', () => {
  it.each(NAMED)('is the %s', async (_, path, bodyOf) => {
    const { apiKey, adminKey } = await newAccount();
    const id = await ask(path, apiKey, bodyOf('alice'));
    await ask(path, apiKey, bodyOf('bob'));
    expect(await requestsOf(adminKey, 'alice')).toEqual([id]);
    for (const list of ['usage', 'usage-history']) {
      const entries = await read<{ inferenceDetails: { requestId: string } }>(
        `/billing/${list}?user=alice`,
        adminKey,
      );
      expect(new Set(entries.map((entry) => entry.inferenceDetails.requestId))).toEqual(new Set([id]));
    }
    expect(await requestsOf(adminKey, 'carol')).toEqual([]);
  });

  it.each([
    ['with a zero character', 'a\0b'],
    ['with half a character', 'a\ud800b'],
    ['like SQL and paths', "';--/../*"],
    ['of as many characters as there may be', 'ü'.repeat(512)],
  ])('may have a name %s, and is found by its id, in its account only', async (_, name) => {
    const { apiKey, adminKey } = await newAccount();
    const id = await ask('/chat/completions', apiKey, { messages, user: name });
    const [{ endUser } = { endUser: '' }] = await read<UserRow>('/billing/usage-analytics/users', adminKey);
    expect(await requestsOf(adminKey, endUser)).toEqual([id]);
    const other = await newAccount();
    expect(await requestsOf(other.adminKey, endUser)).toEqual([]);
    const response = await send(`/end_users/${endUser}`, other.adminKey, { method: 'DELETE' });
    expect(await response.json()).toMatchObject({ data: { requests: 0 } });
    expect(await requestsOf(adminKey, endUser)).toEqual([id]);
  });

  it('has its usage in pages that add up', async () => {
    const { apiKey, adminKey } = await newAccount();
    const ids = [];
    for (let at = 0; at < 7; at += 1)
      ids.push(await ask('/chat/completions', apiKey, { messages, user: at % 2 === 0 ? 'alice' : 'bob' }));
    const found: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const place: string = next === '' ? 'user=alice&pageSize=10' : `cursor=${next}`;
      const response = await send(`/billing/usage-history?${place}`, adminKey);
      const page = (await response.json()) as {
        data: { inferenceDetails: { requestId: string } }[];
        nextCursor: string | null;
      };
      found.push(...page.data.map((entry) => entry.inferenceDetails.requestId));
      next = page.nextCursor;
    }
    expect([...new Set(found)]).toEqual(ids.filter((_, at) => at % 2 === 0));
  });
});

describe('the end users of an account', () => {
  it('are summed up by cost, exactly, and each by a hash that another account does not have', async () => {
    const [mine, other] = [await newAccount(), await newAccount()];
    const hello = (user: string, tokens: number) => ({
      messages: [{ role: 'user', content: `go [[sim tokens=${tokens}]]` }],
      user,
    });
    await ask('/chat/completions', mine.apiKey, hello('alice', 5));
    await ask('/chat/completions', mine.apiKey, hello('bob', 500));
    await ask('/chat/completions', mine.apiKey, hello('alice', 7));
    await ask('/chat/completions', mine.apiKey, { messages });
    await ask('/chat/completions', other.apiKey, hello('alice', 5));
    const users = await read<UserRow>('/billing/usage-analytics/users', mine.adminKey);
    expect(users.map(({ requests }) => requests)).toEqual([1, 2]);
    const [bob, alice] = users;
    const others = await read<UserRow>('/billing/usage-analytics/users', other.adminKey);
    expect(others).toHaveLength(1);
    expect(others[0]?.endUser).not.toBe(alice?.endUser);
    expect(JSON.stringify([users, others])).not.toMatch(/alice|bob/);
    expect(await read('/billing/usage-analytics/users?user=alice', mine.adminKey)).toEqual([alice]);
    const rows = await read<{ usd: number }>('/billing/requests?user=bob', mine.adminKey);
    expect(rows.map(({ usd }) => usd)).toEqual([bob?.usd]);
  });

  it('are forgotten, while what they cost stays', async () => {
    const { apiKey, adminKey } = await newAccount();
    const id = await ask('/chat/completions', apiKey, { messages, user: 'a/lice ü' });
    const user = encodeURIComponent('a/lice ü');
    expect(await requestsOf(adminKey, user)).toEqual([id]);
    const response = await send(`/end_users/${user}`, adminKey, { method: 'DELETE' });
    expect(await response.json()).toMatchObject({ success: true, data: { requests: 1 } });
    expect(await requestsOf(adminKey, user)).toEqual([]);
    expect(await read('/billing/usage-analytics/users', adminKey)).toEqual([]);
    expect(await read<{ requestId: string }>('/billing/requests', adminKey)).toMatchObject([
      { requestId: id },
    ]);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });

  it('are not forgotten by a path without a name', async () => {
    const { apiKey, adminKey } = await newAccount();
    const id = await ask('/chat/completions', apiKey, { messages, user: 'limits' });
    const response = await send('/end_users//limits', adminKey, { method: 'DELETE' });
    expect(response.status).toBe(404);
    expect(await requestsOf(adminKey, 'limits')).toEqual([id]);
    expect((await send('/end_users/limits', adminKey, { method: 'DELETE' })).status).toBe(200);
    expect(await requestsOf(adminKey, 'limits')).toEqual([]);
  });

  it('are seen and forgotten by ADMIN keys only', async () => {
    const keys = await AccountKeys.of(platform);
    const { apiKey } = await keys.create({ apiKeyType: 'INFERENCE' });
    expect((await send('/billing/usage-analytics/users', apiKey)).status).toBe(401);
    expect((await send('/end_users/alice', apiKey, { method: 'DELETE' })).status).toBe(401);
  });
});

describe('the limits of end users', () => {
  const limit = async (key: string, user: string, limits?: object): Promise<unknown> => {
    const response = await send(`/end_users/${user}/limits`, key, {
      method: limits ? 'PUT' : 'DELETE',
      body: limits,
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: unknown }).data;
  };
  const refusalOf = async (key: string, body: object): Promise<readonly [number, string | null, unknown]> => {
    const response = await send('/chat/completions', key, { body: { model: 'test-model', ...body } });
    const { code } = (await response.json()) as { code?: string };
    return [response.status, response.headers.get('x-ratelimit-type'), code];
  };

  it.each(['LIFETIME', 'HOUR'])(
    'let one spend exactly its money of a %s, in 40 requests at the same time, and others go on',
    async (limitPeriod) => {
      await withinOneHour();
      const { apiKey, adminKey, id } = await newAccount();
      await limit(adminKey, 'alice', { consumptionLimit: { usd: 0.05 }, limitPeriod });
      const costs = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const content = 'go [[sim tokens=6000 itl-ms=1]]';
          const body = { model: 'dear', messages: [{ role: 'user', content }], user: 'alice' };
          const response = await sendUntilTaken('/chat/completions', apiKey, { body });
          const { cost, code } = (await response.json()) as { cost?: { usd: number }; code?: string };
          expect(response.status === 200 || code === 'END_USER_SPEND_LIMIT_EXCEEDED').toBe(true);
          return nano(cost?.usd ?? 0);
        }),
      );
      const spent = costs.reduce((sum, cost) => sum + cost, 0);
      expect(spent).toBeLessThanOrEqual(nano(0.05));
      // Those that are refused may have kept a little from the others.
      expect(spent).toBeGreaterThan(nano(0.95 * 0.05));
      expect(nano(Number((await platform.balances(id)).usd))).toBe(nano(10) - spent);
      const [status, , code] = await refusalOf(apiKey, { model: 'dear', messages, user: 'alice' });
      expect([status, code]).toEqual([402, 'END_USER_SPEND_LIMIT_EXCEEDED']);
      await ask('/chat/completions', apiKey, { messages, user: 'bob' });
      await ask('/chat/completions', apiKey, { messages });
      await limit(adminKey, 'alice');
      await ask('/chat/completions', apiKey, { messages, user: 'alice' });
    },
  );

  it('admit exactly as many requests as they say, of 200 at the same time, whatever the model', async () => {
    const { gatewayUrls } = platform;
    const users = ['alice', 'alice', 'bob', 'bob'];
    const models = ['test-model', 'dear'];
    let key = '';
    const responses = await untilOneWindow(async () => {
      await withinOneMinute();
      const { apiKey, adminKey } = await newAccount();
      key = apiKey;
      await limit(adminKey, '*', { requestsPerMinute: 17 });
      return Promise.all(
        Array.from({ length: 200 }, (_, at) => {
          const body = { model: models[at % 2], messages, user: users[at % 4] };
          return sendUntilTaken('/chat/completions', apiKey, {
            body,
            to: gatewayUrls[at % gatewayUrls.length],
          });
        }),
      );
    });
    const counts: Record<string, number> = {};
    for (const [at, { status }] of responses.entries()) {
      const outcome = `${users[at % 4]} ${status}`;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    expect(counts).toEqual({ 'alice 200': 17, 'alice 429': 83, 'bob 200': 17, 'bob 429': 83 });
    expect(await refusalOf(key, { messages, user: 'alice' })).toEqual([
      429,
      'end_user',
      'RATE_LIMIT_EXCEEDED',
    ]);
  });

  it('are those of each end user but for one that has its own', async () => {
    const { apiKey, adminKey } = await newAccount();
    const [none, some] = [{ consumptionLimit: { usd: 0 } }, { consumptionLimit: { usd: 1, diem: 2 } }];
    expect(await limit(adminKey, '*', none)).toEqual({
      consumptionLimit: { usd: 0, diem: null, vcu: null },
      limitPeriod: 'EPOCH',
    });
    expect(
      await limit(adminKey, 'alice', { ...some, limitPeriod: 'WEEK', tokensPerMinute: 900_000 }),
    ).toEqual({
      endUser: expect.stringMatching(/^eu_/),
      consumptionLimit: { usd: 1, diem: 2, vcu: null },
      limitPeriod: 'WEEK',
      tokensPerMinute: 900_000,
    });
    await ask('/chat/completions', apiKey, { messages, user: 'alice' });
    expect((await refusalOf(apiKey, { messages, user: 'bob' }))[2]).toBe('END_USER_SPEND_LIMIT_EXCEEDED');
    expect(await limit(adminKey, '*')).toBeNull();
    await eventually('no gateway limits bob', async () => {
      const body = { model: 'test-model', messages, user: 'bob' };
      return (await send('/chat/completions', apiKey, { body })).status === 200;
    });
  });
});
