import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorOf } from '../response-bodies.js';
import { Platform } from '../platform.js';

const tokenOf = (name: string): string => `operator-token-of-${name}-in-a-test`;
const named = (name: string, scopes: string[], expires?: string): object => ({
  name,
  scopes,
  ...(expires !== undefined && { expires }),
  sha256: hash('sha256', tokenOf(name)),
});

let platform: Platform;
let accountId: string;

beforeAll(async () => {
  const tokens = [
    named('reader', ['read']),
    named('cashier', ['read', 'money']),
    named('support', ['keys'], '2099-01-01T00:00:00Z'),
    named('former', ['read', 'money', 'keys'], '2020-01-01T00:00:00Z'),
  ];
  platform = await Platform.start({ env: { SVC_OPERATOR_TOKENS: JSON.stringify(tokens) } });
  accountId = (await platform.account('1.00')).id;
});

afterAll(() => platform.stop());

/** The status of a request with a token, and the message of a refusal. */
async function ask(name: string, route: string, body?: object): Promise<string> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(platform.operatorUrl + path, {
    method,
    headers: { authorization: `Bearer ${tokenOf(name)}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) {
    await response.text();
    return String(response.status);
  }
  const { code, error } = await errorOf(response);
  return `${response.status} ${code} ${error.message}`;
}

const reads = (name: string): Promise<string> => ask(name, `GET /accounts/${accountId}`);
const credits = (name: string): Promise<string> =>
  ask(name, `POST /accounts/${accountId}/credits`, { usd: '1.00', reference: `of ${name}` });
const makesKey = (name: string): Promise<string> =>
  ask(name, `POST /accounts/${accountId}/api_keys`, { apiKeyType: 'INFERENCE', description: '' });
const logs = (name: string): Promise<string> => ask(name, 'PUT /log-level', { level: 'silent' });

const lacks = (name: string, scope: string): string =>
  `403 UNAUTHORIZED The operator token \`${name}\` lacks the scope \`${scope}\`.`;

it('allows each token what its scopes permit, and names the missing scope', async () => {
  const done = async (name: string): Promise<string[]> =>
    Promise.all([reads(name), credits(name), makesKey(name)]);
  expect(await done('reader')).toEqual(['200', lacks('reader', 'money'), lacks('reader', 'keys')]);
  expect(await done('cashier')).toEqual(['200', '201', lacks('cashier', 'keys')]);
  expect(await done('support')).toEqual([lacks('support', 'read'), lacks('support', 'money'), '201']);
  expect(await logs('reader')).toEqual(lacks('reader', 'keys'));
});

it('rejects an expired token', async () => {
  const expired =
    '401 AUTHENTICATION_FAILED The operator token `former` expired at 2020-01-01T00:00:00.000Z.';
  expect(await reads('former')).toBe(expired);
});

it('still accepts SVC_OPERATOR_TOKEN for everything', async () => {
  const { status } = await platform.operator('GET', `/accounts/${accountId}`);
  expect(status).toBe(200);
  expect((await platform.balances(accountId)).usd).toBe('2.00');
});

it('records who did what, with the result, but no reads and no refused actions', async () => {
  const { id } = await platform.account('0');
  const path = `/accounts/${id}/credits`;
  const credit = { usd: '1.00', reference: 'r' };
  expect(await ask('cashier', `POST ${path}`, credit)).toBe('201');
  expect(await ask('cashier', `POST ${path}`, { ...credit, usd: '2.00' })).toMatch(/^409 REFERENCE_REUSED/);
  expect(await ask('reader', `POST ${path}`, credit)).toMatch(/^403/);
  expect(await ask('cashier', `POST ${path}`, { usd: '-1', reference: 'r' })).toMatch(/^400/);
  expect(await ask('support', `PUT /accounts/${id}/suspension`, { reason: 'x' })).toBe('200');
  const actions = async (query: string): Promise<unknown[]> => {
    const { status, body } = await platform.operator('GET', `/actions?target=${id}&${query}`);
    expect(status).toBe(200);
    return body['data'] as unknown[];
  };
  const common = { target: id, requestId: expect.stringMatching(/^req-/) as unknown };
  const refused = {
    ...common,
    token: 'cashier',
    action: 'creditAccount',
    status: 409,
    code: 'REFERENCE_REUSED',
  };
  expect(await actions('')).toEqual([
    expect.objectContaining({
      ...common,
      token: 'support',
      action: 'suspendAccount',
      status: 200,
      code: null,
    }),
    expect.objectContaining(refused),
    expect.objectContaining({ token: 'cashier', action: 'creditAccount', status: 201, input: credit }),
    expect.objectContaining({ token: 'operator', action: 'createAccountKey', status: 201 }),
  ]);
  expect(await actions('token=support&limit=1')).toHaveLength(1);
  expect(await actions('until=2020-01-01T00:00:00Z')).toEqual([]);
});
