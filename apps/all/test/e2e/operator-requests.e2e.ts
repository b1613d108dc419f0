import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

const SECRET = 'a text that nobody may keep';
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: SECRET }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start();
});

afterAll(() => platform.stop());

/** The operator's view of a request, once it has this outcome: failures are stored after the charge. */
async function shown(id: string | null, outcome: string): Promise<Record<string, unknown>> {
  let view: Record<string, unknown> = {};
  await eventually('the request is shown', async () => {
    const { status, body } = await platform.operator('GET', `/requests/${id}`);
    view = body;
    return status === 200 && body['outcome'] === outcome;
  });
  expect(JSON.stringify(view)).not.toContain(SECRET);
  return view;
}

const idOf = (response: Response): string | null => response.headers.get('x-request-id');

describe('an operator finds by its id', () => {
  it('a request that was charged', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const response = await platform.chat(apiKey, HELLO);
    await response.text();
    expect(await shown(idOf(response), 'charged')).toMatchObject({
      failure: null,
      charge: { accountId: id, model: 'test-model' },
    });
  });

  it('a request that was refused, with the reason', async () => {
    const { id, apiKey } = await platform.account('0');
    const response = await platform.chat(apiKey, HELLO);
    expect(response.status).toBe(402);
    await response.text();
    expect(await shown(idOf(response), 'refused')).toMatchObject({
      failure: { status: 402, code: 'INSUFFICIENT_BALANCE', accountId: id, route: 'createChatCompletion' },
      charge: null,
    });
  });

  it('a request without valid credentials', async () => {
    const response = await platform.chat('no-key', HELLO);
    await response.text();
    expect(await shown(idOf(response), 'refused')).toMatchObject({
      failure: { status: 401, code: 'AUTHENTICATION_FAILED', accountId: null, keyId: null },
    });
  });

  it('a stream whose client left', async () => {
    const { apiKey } = await platform.account('1.00');
    const messages = [{ role: 'user', content: 'go [[sim tokens=200 itl-ms=10]]' }];
    const stop = new AbortController();
    const response = await fetch(`${platform.apiUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...HELLO, messages, stream: true }),
      signal: stop.signal,
    });
    await response.body?.getReader().read();
    stop.abort();
    expect(await shown(idOf(response), 'failed')).toMatchObject({
      failure: { status: 200, ended: 'client_gone' },
    });
  });

  it('a request under way, by what it holds, until it is charged', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const holds = async (): Promise<unknown> =>
      (await platform.operator('GET', `/accounts/${id}/holds`)).body;
    expect(await holds()).toEqual({ object: 'list', data: [] });
    const messages = [{ role: 'user', content: 'go [[sim tokens=200 itl-ms=10]]' }];
    const response = await platform.chat(apiKey, { ...HELLO, messages, stream: true });
    const requestId = idOf(response);
    const held = { requestId, amount: { usd: expect.stringMatching(/^0\.0*[1-9]/), diem: '0.00' } };
    expect(await holds()).toMatchObject({ data: [held] });
    expect((await platform.operator('GET', `/requests/${requestId}`)).status).toBe(404);
    await response.text();
    await shown(requestId, 'charged');
    expect(await holds()).toEqual({ object: 'list', data: [] });
  });

  it('none that never was', async () => {
    const { status, body } = await platform.operator('GET', '/requests/chatcmpl-none');
    expect([status, body['code']]).toEqual([404, 'REQUEST_NOT_FOUND']);
  });
});
