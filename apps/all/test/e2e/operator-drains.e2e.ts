import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ownPlatform } from '../own-platform.js';
import { type OperatorResponse, Platform, type TestAccount } from '../platform.js';
import { errorOf, eventually } from '../response-bodies.js';
import { isClustered } from '../target.js';

const MODEL = 'org/two-servers';
const READER = 'operator-token-of-a-reader-in-a-test';
const TOKENS = [{ name: 'reader', scopes: ['read'], sha256: hash('sha256', READER) }];
const REASON = 'New driver';

let servers: Record<'a' | 'b', Simulator>;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  servers = { a: await startSimulator({ port: 0 }), b: await startSimulator({ port: 0 }) };
  const backends = Object.entries(servers).map(([name, { url }]) => ({
    name,
    url: `${url}/v1`,
    model: 'sim',
  }));
  platform = await Platform.start({
    models: [{ id: MODEL, name: MODEL, backends }],
    env: { SVC_OPERATOR_TOKENS: JSON.stringify(TOKENS) },
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform?.stop();
  for (const server of Object.values(servers)) await server.close();
});

const pathOf = (name: string, model = MODEL): string =>
  `/backends/${encodeURIComponent(model)}/${encodeURIComponent(name)}/state`;

const set = (name: string, body: object): Promise<OperatorResponse> =>
  platform.operator('PUT', pathOf(name), body);

const putBack = (name: string): Promise<OperatorResponse> =>
  set(name, { state: 'active', reason: 'Test is over' });

const states = async (): Promise<unknown[]> => {
  const { body } = await platform.operator('GET', '/backends');
  const rows = body['data'] as { model: string; name: string; state: string }[];
  return rows
    .filter(({ model }) => model === MODEL)
    .map(({ name, state }) => `${name} ${state}`)
    .toSorted();
};

const shown = (...expected: string[]): Promise<void> =>
  eventually(`the states are ${expected.join()}`, async () => (await states()).join() === expected.join());

const ask = (content = 'Hello', members: object = {}): Promise<Response> =>
  platform.chat(account.apiKey, { model: MODEL, messages: [{ role: 'user', content }], ...members });

const served = ({ a, b } = servers): number[] => [a.requests().length, b.requests().length];

/** How many of some requests each server gets. */
async function shares(count: number): Promise<number[]> {
  const [a = 0, b = 0] = served();
  for (let request = 0; request < count; request += 1)
    expect((await ask(`Hello ${request}`)).status).toBe(200);
  const [after = 0, other = 0] = served();
  return [after - a, other - b];
}

it('a drained backend gets no further request, its stream ends whole, and it is back on demand', async () => {
  const slow = (at: number): Promise<Response> =>
    ask(`${at}, write [[sim itl-ms=20 tokens=150]]`, { stream: true });
  const streams = await Promise.all(Array.from({ length: 8 }, (_, at) => slow(at)));
  const isBusy = servers.a.stats().inFlight > 0;
  const [name, other] = isBusy ? (['a', 'b'] as const) : (['b', 'a'] as const);
  expect(servers[name].stats().inFlight).toBeGreaterThan(0);
  const { status, body } = await set(name, { state: 'draining', reason: REASON });
  expect([status, body]).toEqual([
    200,
    {
      model: MODEL,
      name,
      state: 'draining',
      reason: REASON,
      since: expect.any(String) as unknown,
      until: null,
    },
  ]);
  await shown(...[`${name} draining`, `${other} up`].toSorted());
  const before = servers[name].requests().length;
  await shares(12);
  expect(servers[name].requests()).toHaveLength(before);
  for (const stream of streams) expect(await stream.text()).toMatch(/data: \[DONE\]\s*$/);
  expect(servers[name].cancellations()).toEqual([]);
  await putBack(name);
  await shown('a up', 'b up');
  for (const share of await shares(40)) expect(share).toBeGreaterThan(0);
});

it('a change of the catalogue does not undo it', async () => {
  onTestFinished(async () => void (await putBack('a')));
  await set('a', { state: 'off', reason: REASON });
  await shown('a off', 'b up');
  const path = platform.env['SVC_CATALOG'] ?? '';
  const { body: before } = await platform.operator('GET', '/catalog');
  await writeFile(path, `${await readFile(path, 'utf8')}# changed\n`);
  await eventually('the changed catalogue is in force', async () => {
    const { body } = await platform.operator('GET', '/catalog');
    return body['hash'] !== before['hash'];
  });
  await shown('a off', 'b up');
  expect(await shares(8)).toEqual([0, 8]);
});

it('ends by itself at its time', async () => {
  const until = new Date(Date.now() + 8_000).toISOString();
  await set('b', { state: 'draining', reason: REASON, until });
  await shown('a up', 'b draining');
  await shown('a up', 'b up');
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(until));
});

it('refuses requests with a clear message while all backends of a model are out', async () => {
  onTestFinished(async () => {
    for (const name of ['a', 'b']) await putBack(name);
    await shown('a up', 'b up');
  });
  for (const name of ['a', 'b']) await set(name, { state: 'draining', reason: REASON });
  await shown('a draining', 'b draining');
  const refused = await ask();
  expect(refused.status).toBe(503);
  const { code, error } = await errorOf(refused);
  expect([code, error.message]).toEqual([
    'MODEL_OFFLINE',
    expect.stringContaining('out of service for maintenance'),
  ]);
});

it('refuses unknown backends, times that are over, and tokens that may only read', async () => {
  const drain = { state: 'draining', reason: REASON };
  for (const path of [pathOf('c'), pathOf('a#1'), pathOf('a', 'no-model')]) {
    const { status, body } = await platform.operator('PUT', path, drain);
    expect([status, body['code']]).toEqual([404, 'BACKEND_NOT_FOUND']);
  }
  const over = new Date(Date.now() - 1_000).toISOString();
  for (const body of [{ ...drain, until: over }, { state: 'draining' }, { ...drain, state: 'up' }])
    expect((await set('a', body)).status).toBe(400);
  const asReader = await fetch(platform.operatorUrl + pathOf('a'), {
    method: 'PUT',
    headers: { authorization: `Bearer ${READER}`, 'content-type': 'application/json' },
    body: JSON.stringify(drain),
  });
  expect((await errorOf(asReader)).code).toBe('UNAUTHORIZED');
  expect(await states()).toEqual(['a up', 'b up']);
});

it.skipIf(isClustered())('survives a restart', async () => {
  const own = await ownPlatform();
  const { status } = await own.operator('PUT', pathOf('backend-1', 'test-model'), {
    state: 'off',
    reason: REASON,
  });
  expect(status).toBe(200);
  await own.service.stop();
  await own.restart();
  const { body } = await own.operator('GET', '/backends');
  expect(body['data']).toMatchObject([{ name: 'backend-1', state: 'off', reason: REASON }]);
});

it('is among the actions of operators, with the reason', async () => {
  const target = encodeURIComponent(`${MODEL} a`);
  const { body } = await platform.operator('GET', `/actions?action=setBackendState&target=${target}`);
  expect(body['data']).toContainEqual(
    expect.objectContaining({ status: 200, input: { state: 'off', reason: REASON } }),
  );
});
