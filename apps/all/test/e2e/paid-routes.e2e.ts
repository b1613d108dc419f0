import { routes } from '@svc/api';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { withinOneMinute } from '../minutes.js';
import { PAID, UNPAID, modelsFor, routeNamed } from '../paid-requests.js';
import { Platform, type TestAccount } from '../platform.js';
import { errorOf, eventually } from '../response-bodies.js';
import { evmWallet, signedInAt } from '../wallets.js';

const NAMES = Object.keys(PAID);
const WITH_MODEL = NAMES.filter((name) => PAID[name]?.type !== undefined);
const CHARGED = WITH_MODEL.filter((name) => PAID[name]?.isFree !== true);

/** Routes whose response may be a stream of events, which is not stored. Those of a form are one text. */
const STREAMED = CHARGED.filter((name) => {
  const { event, bodyType } = routeNamed(name);
  return event !== undefined && bodyType === undefined;
});

const COSTLY = NAMES.filter((name) => PAID[name]?.isFree !== true);

let backend: Simulator;
let platform: Platform;
/** Accounts whose requests are refused, each for its own reason. */
let unpaid: TestAccount;
let suspended: TestAccount;
let poor: TestAccount;
let privateKey: string;
/** Keys that may not be used for these requests, by the code of the refusal. */
let restricted: Readonly<Record<'model' | 'endpoint' | 'management' | 'address' | 'disabled', string>>;

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  const { url } = backend;
  platform = await Platform.start({
    env: { GATEWAY_END_USER_HEADER: 'X-End-User' },
    models: [
      ...modelsFor(url, 'open', {}),
      ...modelsFor(url, 'paid', { paidOnly: true }),
      ...modelsFor(url, 'anonymous', { privacy: 'anonymized' }),
    ],
    web: {
      extras: { webPage: 0.02, webSearch: 0.01, textParser: 0.03 },
      search: { providers: [{ kind: 'searxng', url }] },
    },
    cryptoRpc: {
      limits: { standard: { requestsPerMinute: 1_000, creditsPerMinute: 1_000_000 } },
      networks: { chain: { family: 'evm', nodes: [{ url }] } },
    },
  });
  unpaid = await platform.account('1.00', { paid: false });
  suspended = await platform.account('1.00');
  await platform.operator('PUT', `/accounts/${suspended.id}/suspension`, { reason: 'unpaid' });
  poor = await platform.account('0');
  const keys = await AccountKeys.of(platform);
  const made = async (terms: object): Promise<string> => (await keys.create(terms)).apiKey;
  privateKey = await made({ modelPrivacy: 'PRIVATE_ONLY' });
  restricted = {
    model: await made({ allowedModels: ['*-paid'] }),
    endpoint: await made({ allowedEndpoints: ['/characters'] }),
    management: await made({ apiKeyType: 'ADMIN', canInfer: false }),
    address: await made({ allowedIps: ['192.0.2.0/24', '2001:db8::/32'] }),
    disabled: await made({ disabled: true }),
  };
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

interface PaidCall {
  readonly ending?: string;
  readonly stream?: true;
  readonly signal?: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
}

/** Calls a route with a request that works but for what is given. */
function called(name: string, { ending = 'open', headers, stream, signal }: PaidCall): Promise<Response> {
  const paid = PAID[name];
  if (!paid) throw new Error(`there is no request for ${name}`);
  const { path } = routeNamed(name);
  const body = paid.body(`${paid.type ?? ''}-${ending}`);
  const isForm = body instanceof FormData;
  return fetch(`${platform.rootUrl}${path.replace(/:\w+/, paid.name ?? '')}`, {
    method: 'POST',
    headers: { ...headers, ...(!isForm && { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify({ ...body, ...(stream && { stream }) }),
    ...(signal && { signal }),
  });
}

const bearer = (apiKey: string): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

/** The status and the code of a refusal. Errors of other dialects have no codes of this service. */
async function refusalOf(name: string, call: PaidCall): Promise<readonly [number, string | undefined]> {
  const response = await called(name, call);
  const { error } = await errorOf(response);
  return [response.status, routeNamed(name).errors ? 'none' : error.code];
}

/** What is expected of a route for this refusal. */
const refused = (name: string, status: number, code: string): readonly [number, string] => [
  status,
  routeNamed(name).errors ? 'none' : code,
];

interface Transfer {
  readonly kind: string;
  readonly amount: string;
  readonly reference: string;
}

async function charges(id: string): Promise<readonly Transfer[]> {
  const { body } = await platform.operator('GET', `/accounts/${id}/transfers?limit=1000`);
  return (body['data'] as Transfer[]).filter(({ kind }) => kind === 'charge');
}

it('every route that takes payment has a request here, or says that it costs nothing', () => {
  const takesPayment = Object.entries(routes).filter(([, { access }]) => access === 'key-or-wallet');
  expect([...NAMES, ...UNPAID].toSorted()).toEqual(takesPayment.map(([name]) => name).toSorted());
});

describe('an account with money', () => {
  it.each(CHARGED)('is charged once, by exactly what its balance loses: %s', async (name) => {
    const account = await platform.account('1.00');
    const response = await called(name, { headers: bearer(account.apiKey) });
    const text = await response.text();
    expect([response.status, response.headers.get('x-svc-model-id'), text]).toEqual([
      200,
      `${PAID[name]?.type}-open`,
      expect.any(String),
    ]);
    let made: readonly Transfer[] = [];
    await eventually('the charge is posted', async () => (made = await charges(account.id)).length > 0);
    expect(made.map(({ reference }) => reference)).toEqual([response.headers.get('x-request-id')]);
    const { usd } = await platform.balances(account.id);
    expect(Number(usd)).toBeLessThan(1);
    expect(1 - Number(usd)).toBeCloseTo(Number(made[0]?.amount), 9);
  });
});

describe('an end user whom a header names', () => {
  it.each(CHARGED)('is that of the charge: %s', async (name) => {
    const account = await platform.account('1.00');
    const response = await called(name, { headers: { ...bearer(account.apiKey), 'x-end-user': 'alice' } });
    await response.text();
    const requestsOf = async (user: string): Promise<string[]> => {
      const url = `${platform.apiUrl}/billing/requests?user=${user}`;
      const found = await fetch(url, { headers: bearer(account.apiKey) });
      const { data } = (await found.json()) as { data: { requestId: string }[] };
      return data.map(({ requestId }) => requestId);
    };
    const requestId = response.headers.get('x-request-id');
    await eventually('the charge is that of the user', async () => (await requestsOf('alice')).length > 0);
    expect(await requestsOf('alice')).toEqual([requestId]);
    expect(await requestsOf('bob')).toEqual([]);
  });
});

describe('a model', () => {
  it.each(WITH_MODEL)('for accounts that have paid is refused to one that has not: %s', async (name) => {
    expect(await refusalOf(name, { ending: 'paid', headers: bearer(unpaid.apiKey) })).toEqual(
      refused(name, 401, 'PRO_ONLY_MODEL'),
    );
  });

  it.each(WITH_MODEL)('that is not private is refused to a key for private ones: %s', async (name) => {
    expect(await refusalOf(name, { ending: 'anonymous', headers: bearer(privateKey) })).toEqual(
      refused(name, 403, 'UNAUTHORIZED'),
    );
  });

  it.each(WITH_MODEL)('that a key may not use is refused to it: %s', async (name) => {
    expect(await refusalOf(name, { headers: bearer(restricted.model) })).toEqual(
      refused(name, 403, 'MODEL_NOT_ALLOWED'),
    );
  });

  it.each(WITH_MODEL)('that does not exist is refused: %s', async (name) => {
    expect(await refusalOf(name, { ending: 'nothing', headers: bearer(unpaid.apiKey) })).toEqual(
      refused(name, 404, 'MODEL_NOT_FOUND'),
    );
  });
});

describe('a request', () => {
  it.each(NAMES)('with a wrong key is refused: %s', async (name) => {
    const headers = bearer(`SVC_INFERENCE_KEY_${'x'.repeat(43)}`);
    expect(await refusalOf(name, { headers })).toEqual(refused(name, 401, 'AUTHENTICATION_FAILED'));
  });

  it.each(NAMES)('that its key may not make is refused: %s', async (name) => {
    const refusals = {
      endpoint: refused(name, 403, 'ENDPOINT_NOT_ALLOWED'),
      management: refused(name, 403, 'ENDPOINT_NOT_ALLOWED'),
      address: refused(name, 403, 'ADDRESS_NOT_ALLOWED'),
      disabled: refused(name, 401, 'AUTHENTICATION_FAILED'),
    };
    for (const [why, refusal] of Object.entries(refusals)) {
      const headers = bearer(restricted[why as keyof typeof refusals]);
      expect([why, ...(await refusalOf(name, { headers }))]).toEqual([why, ...refusal]);
    }
  });

  it.each(NAMES)('of a suspended account is refused: %s', async (name) => {
    expect(await refusalOf(name, { headers: bearer(suspended.apiKey) })).toEqual(
      refused(name, 403, 'ACCOUNT_SUSPENDED'),
    );
  });

  it.each(COSTLY)('of an account without money is refused: %s', async (name) => {
    expect(await refusalOf(name, { headers: bearer(poor.apiKey) })).toEqual(
      refused(name, 402, 'INSUFFICIENT_BALANCE'),
    );
  });

  it.each(COSTLY)('of a wallet without money is answered with how to pay: %s', async (name) => {
    const signedIn = await signedInAt(`${platform.rootUrl}${routeNamed(name).path}`, evmWallet());
    const response = await called(name, { headers: signedIn });
    expect([response.status, response.headers.has('payment-required')]).toEqual([402, true]);
  });
});

/** The text of a response with its status, and whether it repeats an earlier one. */
async function shown(response: Response) {
  const { status, headers } = response;
  const isReplayed = headers.get('idempotent-replayed') === 'true';
  return { status, type: headers.get('content-type'), text: await response.text(), isReplayed };
}

const keyed = ({ apiKey }: TestAccount, key: string): Record<string, string> => ({
  ...bearer(apiKey),
  'idempotency-key': key,
});

describe('a request with an Idempotency-Key', () => {
  it.each(NAMES)('is made once by every route that takes payment: %s', (name) => {
    expect(routeNamed(name).admitted).toBe('once');
  });

  it.each(CHARGED)('gets its first response again, and is charged once: %s', async (name) => {
    const account = await platform.account('5.00');
    const headers = keyed(account, 'order-1');
    const first = await shown(await called(name, { headers }));
    expect([first.status, first.isReplayed]).toEqual([200, false]);
    const again = await shown(await called(name, { headers }));
    expect(again).toEqual({ ...first, isReplayed: true });
    // Under another key it is another request.
    expect((await shown(await called(name, { headers: keyed(account, 'order-2') }))).isReplayed).toBe(false);
    await eventually('both are charged', async () => (await charges(account.id)).length > 1);
    expect(await charges(account.id)).toHaveLength(2);
  });

  it.each(CHARGED)('is refused with another body: %s', async (name) => {
    const headers = keyed(await platform.account('5.00'), 'order-1');
    expect((await called(name, { headers })).status).toBe(200);
    expect(await refusalOf(name, { ending: 'other', headers })).toEqual(
      refused(name, 400, 'IDEMPOTENCY_KEY_REUSED'),
    );
  });

  it.each(NAMES)('that is refused leaves its key free: %s', async (name) => {
    const headers = keyed(suspended, 'order-1');
    for (let time = 1; time <= 2; time += 1)
      expect(await refusalOf(name, { headers })).toEqual(refused(name, 403, 'ACCOUNT_SUSPENDED'));
  });

  it.each(NAMES)('is refused if its key is empty: %s', async (name) => {
    const headers = keyed(await platform.account('5.00'), '');
    expect(await refusalOf(name, { headers })).toEqual(refused(name, 400, 'INVALID_REQUEST'));
  });

  it.each(CHARGED)('whose client leaves gets its response when it is repeated: %s', async (name) => {
    const account = await platform.account('5.00');
    const headers = keyed(account, 'order-1');
    const leaving = new AbortController();
    const left = called(name, { headers, signal: leaving.signal });
    setImmediate(() => leaving.abort());
    await left.then((response) => response.text()).catch(() => undefined);
    let response = await called(name, { headers });
    await eventually('it has its response', async () => {
      if (response.status === 409) response = await called(name, { headers });
      return response.status !== 409;
    });
    expect(response.status).toBe(200);
    await response.text();
    await eventually('it is charged', async () => (await charges(account.id)).length > 0);
    expect(await charges(account.id)).toHaveLength(1);
  });

  it.each(STREAMED)('that streams is made once, and its repetition names it: %s', async (name) => {
    const account = await platform.account('5.00');
    const headers = keyed(account, 'order-1');
    const first = await called(name, { headers, stream: true });
    expect(first.headers.get('content-type')).toContain('text/event-stream');
    await first.text();
    let again = await called(name, { headers, stream: true });
    await eventually('the first is over', async () => {
      if (again.headers.has('retry-after')) again = await called(name, { headers, stream: true });
      return !again.headers.has('retry-after');
    });
    expect(again.status).toBe(409);
    expect(await again.text()).toContain(first.headers.get('x-request-id') ?? 'an id');
    await eventually('it is charged', async () => (await charges(account.id)).length > 0);
    expect(await charges(account.id)).toHaveLength(1);
  });
});

describe('the limits of an account', () => {
  it.each(WITH_MODEL)('hold for every route: %s', async (name) => {
    const account = await platform.account('1.00');
    const models = [{ model: `${PAID[name]?.type}-open`, requestsPerMinute: 1 }];
    expect((await platform.operator('PUT', `/accounts/${account.id}/limits`, { models })).status).toBe(200);
    const headers = bearer(account.apiKey);
    await withinOneMinute();
    const statuses = [await called(name, { headers }), await called(name, { headers })];
    expect(statuses.map(({ status }) => status)).toEqual([200, 429]);
    expect(statuses[1]?.headers.has('retry-after')).toBe(true);
  });
});

describe('a request whose client leaves', () => {
  it.each(CHARGED)('is charged at most once, and holds nothing afterwards: %s', async (name) => {
    const account = await platform.account('5.00');
    const leaving = new AbortController();
    const left = called(name, { headers: bearer(account.apiKey), signal: leaving.signal });
    setImmediate(() => leaving.abort());
    await left.then((response) => response.text()).catch(() => undefined);
    // What is still held is missing from what the account may spend.
    await eventually('nothing is held', async () => {
      const { headers } = await fetch(`${platform.apiUrl}/api_keys/rate_limits`, {
        headers: bearer(account.apiKey),
      });
      const { usd } = await platform.balances(account.id);
      return Number(headers.get('x-svc-balance-usd')) === Number(usd);
    });
    expect((await charges(account.id)).length).toBeLessThanOrEqual(1);
  });
});

describe('headers that demand encryption', () => {
  it.each(NAMES)('are refused where they cannot be met, and cost nothing: %s', async (name) => {
    const headers = { ...bearer(poor.apiKey), 'x-svc-tee-client-pub-key': 'none' };
    expect(await refusalOf(name, { headers })).toEqual(refused(name, 400, 'INVALID_REQUEST'));
  });
});

it('what was refused is not charged', async () => {
  for (const { id } of [unpaid, suspended, poor]) expect(await charges(id)).toEqual([]);
});
