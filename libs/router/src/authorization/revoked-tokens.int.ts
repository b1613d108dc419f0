import type { ServerResponse } from 'node:http';
import { Catalog } from '@svc/catalog';
import { TestServer } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { catalogFile, patientRouter } from '../../test/routing.js';

let granted: number;
let valid: string;
let issuer: TestServer;
let provider: TestServer;
let seen: string[];
let grant: (response: ServerResponse) => void;
let subject: ReturnType<typeof patientRouter>;

const BODY = [Buffer.from('{"messages":[{"role":"user","content":"Hi"}]}')];
const CALL = { requestId: 'r', accountId: 'a', model: 'm', body: BODY };
const ANSWER = { candidates: [{ content: { parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }] };

beforeEach(async () => {
  granted = 0;
  seen = [];
  valid = 'token-1';
  grant = (response) => void response.end(JSON.stringify({ access_token: `token-${(granted += 1)}` }));
  issuer = await TestServer.start((_request, response) => grant(response));
  provider = await TestServer.start((request, response) => {
    const { authorization = '' } = request.headers;
    request.resume();
    if (request.method === 'POST') seen.push(authorization);
    if (authorization === `Bearer ${valid}`) response.end(JSON.stringify(ANSWER));
    else response.writeHead(401).end('{"error":{"message":"revoked"}}');
  });
  const backends = [{ kind: 'vertex', url: provider.url, model: 'x' }];
  const settings = { ROUTER_GOOGLE_METADATA_URL: issuer.url };
  subject = patientRouter(new Catalog(catalogFile({ id: 'm', backends })), settings);
});

afterEach(async () => {
  await subject.stop();
  await provider.close();
  await issuer.close();
});

const complete = (signal = AbortSignal.timeout(60_000)): Promise<unknown> =>
  subject.router.complete(CALL, signal);

describe('a token that its provider refuses', () => {
  it('is asked for again, once, and the call is made with the new one', async () => {
    await complete();
    valid = 'token-2';
    await complete();
    await complete();
    expect(seen).toEqual(['token-1', 'token-1', 'token-2', 'token-2'].map((token) => `Bearer ${token}`));
    expect(granted).toBe(2);
  });

  it('is asked for once a minute at most, if every token is refused', async () => {
    valid = 'none';
    for (let at = 0; at < 3; at += 1)
      await expect(complete()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    expect(granted).toBe(2);
    expect(seen).toHaveLength(4);
  });

  it('is not waited for by a call whose client has left', async () => {
    const arrival = Promise.withResolvers<undefined>();
    grant = () => arrival.resolve(undefined);
    const left = new AbortController();
    const call = complete(left.signal);
    await arrival.promise;
    left.abort();
    await expect(call).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    expect(seen).toEqual([]);
  });
});
