import { createVerify, generateKeyPairSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Logger, createLogger } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authorizations } from './authorizations.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' });

interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
}

let issuer: TestServer;
let received: Received[];
let answer: { status: number; body: unknown };
let lines: string[];
let authorizations: Authorizations;

beforeEach(async () => {
  received = [];
  lines = [];
  answer = { status: 200, body: { access_token: 'token-1', expires_in: 3_600, token_type: 'Bearer' } };
  issuer = await TestServer.start((request, response) => {
    void text(request).then((body) => {
      const { url = '', headers } = request;
      received.push({ url, headers, form: new URLSearchParams(body) });
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    });
  });
  const log = createLogger('silent');
  const record = (fields: object, message: string): void =>
    void lines.push(`${JSON.stringify(fields)} ${message}`);
  log.error = record as unknown as Logger['error'];
  authorizations = new Authorizations({ ROUTER_GOOGLE_METADATA_URL: issuer.url, log });
});
afterEach(() => issuer.close());

const serviceAccount = (members: object = {}): string =>
  JSON.stringify({
    type: 'service_account',
    client_email: 'svc@shop.test',
    private_key: PEM,
    private_key_id: 'key-1',
    token_uri: `${issuer.url}/token`,
    ...members,
  });

const call = (key: string | undefined) => ({
  method: 'POST',
  origin: 'https://example.test',
  path: '/',
  body: [],
  key,
});

const jsonIn = (part = ''): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());

describe('a token of Google', () => {
  it('is granted for an assertion that the service account has signed', async () => {
    const headers = await authorizations.headersOf('google', call(serviceAccount()));
    expect(headers).toEqual({ authorization: 'Bearer token-1' });
    const [first] = received;
    expect([first?.url, first?.form.get('grant_type')]).toEqual([
      '/token',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ]);
    const [head, claims, signature = ''] = first?.form.get('assertion')?.split('.') ?? [];
    const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    expect(verify.verify(publicKey, signature, 'base64url')).toBe(true);
    expect(jsonIn(head)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    const { iat, exp, ...others } = jsonIn(claims) as { iat: number; exp: number };
    expect(others).toEqual({
      iss: 'svc@shop.test',
      aud: `${issuer.url}/token`,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expect(exp - iat).toBe(3_600);
    expect(Math.abs(iat - Date.now() / 1_000)).toBeLessThan(60);
  });

  it('is that of the workload without a secret', async () => {
    expect(await authorizations.headersOf('google', call(undefined))).toEqual({
      authorization: 'Bearer token-1',
    });
    expect(received).toMatchObject([
      {
        url: '/computeMetadata/v1/instance/service-accounts/default/token',
        headers: { 'metadata-flavor': 'Google' },
      },
    ]);
  });

  it('is asked for once by any number of calls, and again for another secret', async () => {
    const key = serviceAccount();
    const calls = Array.from({ length: 20 }, () => authorizations.headersOf('google', call(key)));
    await Promise.all(calls);
    await authorizations.headersOf('google', call(key));
    expect(received).toHaveLength(1);
    await authorizations.headersOf('google', call(serviceAccount({ private_key_id: 'key-2' })));
    expect(received).toHaveLength(2);
  });

  it('is renewed after half of its lifetime, and the last one is used while the issuer fails', async () => {
    const key = serviceAccount();
    answer = { status: 200, body: { access_token: 'short', expires_in: 1 } };
    await authorizations.headersOf('google', call(key));
    answer = { status: 500, body: {} };
    await new Promise((resolve) => setTimeout(resolve, 550));
    expect(await authorizations.headersOf('google', call(key))).toEqual({ authorization: 'Bearer short' });
    expect(received).toHaveLength(2);
    await new Promise((resolve) => setTimeout(resolve, 600));
    await expect(authorizations.headersOf('google', call(key))).rejects.toMatchObject({ status: 502 });
  });

  it('is not asked for during a pause after a failure, of which one line says why', async () => {
    answer = { status: 400, body: { error: 'invalid_grant', error_description: 'secret-detail' } };
    const key = serviceAccount();
    const failure = { status: 502, body: expect.stringContaining('400 invalid_grant') as string };
    for (let at = 0; at < 5; at += 1)
      await expect(authorizations.headersOf('google', call(key))).rejects.toMatchObject(failure);
    expect(received).toHaveLength(1);
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toMatch(/secret-detail|PRIVATE|shop\.test/);
    answer = { status: 200, body: { access_token: 'late' } };
    const again = (): Promise<unknown> =>
      authorizations.headersOf('google', call(key)).catch((error: unknown) => error);
    await expect.poll(again, { timeout: 10_000 }).toEqual({ authorization: 'Bearer late' });
  });

  it.each([
    ['no JSON', '{"type":'],
    ['of another type', JSON.stringify({ type: 'authorized_user', refresh_token: 'secret-value' })],
  ])('is refused for a secret that is %s, without a word of it', async (_, key) => {
    const error: unknown = await authorizations.headersOf('google', call(key)).catch((why: unknown) => why);
    expect(error).toMatchObject({ status: 401, body: expect.stringContaining('service account') as string });
    expect(JSON.stringify([error, lines])).not.toContain('secret-value');
    expect(received).toEqual([]);
  });

  it('is refused for a private key that cannot sign, and an issuer without encryption elsewhere', async () => {
    for (const members of [{ private_key: 'secret-value' }, { token_uri: 'http://issuer.test/token' }]) {
      const key = serviceAccount(members);
      const error: unknown = await authorizations.headersOf('google', call(key)).catch((why: unknown) => why);
      expect(error).toMatchObject({ status: 401 });
      expect(JSON.stringify([error, lines])).not.toContain('secret-value');
    }
    expect(received).toEqual([]);
  });

  it.each([[{}], [{ access_token: 'a b' }], [{ access_token: 'x\r\ny: z' }], ['text']])(
    'is refused if the issuer sends %j',
    async (body) => {
      answer = { status: 200, body };
      await expect(authorizations.headersOf('google', call(serviceAccount()))).rejects.toMatchObject({
        status: 502,
      });
    },
  );
});

describe('a call of Azure', () => {
  it('has a key in its own header', async () => {
    expect(await authorizations.headersOf('entra', call('plain'))).toEqual({ 'api-key': 'plain' });
    expect(await authorizations.headersOf('entra', call(undefined))).toEqual({});
  });

  it('has a token by the credentials of a client', async () => {
    const secret = { tenant_id: 'tenant-1', client_id: 'me', client_secret: 's+cr&t', authority: issuer.url };
    expect(await authorizations.headersOf('entra', call(JSON.stringify(secret)))).toEqual({
      authorization: 'Bearer token-1',
    });
    expect(received[0]?.url).toBe('/tenant-1/oauth2/v2.0/token');
    expect(Object.fromEntries(received[0]?.form ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: 'me',
      client_secret: 's+cr&t',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
  });
});
