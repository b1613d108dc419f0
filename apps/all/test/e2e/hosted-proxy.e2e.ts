import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestServer, TunnelProxy, localIdentity } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

const PASSWORD = 'of-the-egress-proxy';
const TOKEN = 'token-of-the-issuer';

const COMPLETION = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};
const ANSWER = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 },
};

function provide(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const path = request.url ?? '';
  response.setHeader('content-type', 'application/json');
  if (path === '/token') response.end(JSON.stringify({ access_token: TOKEN, expires_in: 3_600 }));
  else if (!path.includes(':generateContent')) response.end(JSON.stringify(COMPLETION));
  else if (request.headers.authorization === `Bearer ${TOKEN}`) response.end(JSON.stringify(ANSWER));
  else response.writeHead(401).end('{}');
}

let folder: string;
let proxy: TunnelProxy;
/** A provider, and an issuer of tokens, with a certificate of their own. */
let provider: Server;
let inside: TestServer;
let platform: Platform;
let account: TestAccount;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-proxy-'));
  proxy = await TunnelProxy.start(PASSWORD);
  const { key, cert } = await localIdentity();
  await writeFile(join(folder, 'ca.crt'), cert);
  provider = createTlsServer({ key, cert }, provide).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  ({ port } = provider.address() as AddressInfo);
  inside = await TestServer.start(provide);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const serviceAccount = JSON.stringify({
    type: 'service_account',
    client_email: 'svc@shop.test',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `https://localhost:${port}/token`,
  });
  const model = (id: string, backend: object) => ({ id, backends: [{ model: 'x', ...backend }] });
  const vertexUrl = `https://localhost:${port}/v1/projects/p/locations/l/publishers/google`;
  platform = await Platform.start({
    hasOwnProcess: true,
    env: {
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
      ROUTER_PROXY_URL: proxy.url,
      ROUTER_PROXY_EXCEPT: '127.0.0.1, example.internal',
      GOOGLE_ACCOUNT: serviceAccount,
    },
    models: [
      model('hosted', { url: `https://localhost:${port}/v1` }),
      model('near', { url: `https://127.0.0.1:${port}/v1` }),
      model('plain', { url: `${inside.url.replace('127.0.0.1', 'localhost')}/v1` }),
      model('vertex', { kind: 'vertex', url: vertexUrl, apiKeyEnv: 'GOOGLE_ACCOUNT' }),
    ],
  });
  account = await platform.account('10.00');
});

afterAll(async () => {
  await platform?.stop();
  provider?.closeAllConnections();
  provider?.close();
  await inside?.close();
  proxy?.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  proxy.tunnels.length = 0;
  proxy.isRefusing = false;
});

async function statusOf(model: string): Promise<number> {
  const messages = [{ role: 'user', content: 'Hi' }];
  const response = await platform.chat(account.apiKey, { model, messages });
  await response.text();
  return response.status;
}

it('calls of a provider go through a tunnel of the proxy, which is kept for the next ones', async () => {
  expect([await statusOf('hosted'), await statusOf('hosted')]).toEqual([200, 200]);
  expect(proxy.tunnels).toEqual([`localhost:${port}`]);
});

it.each(['near', 'plain'])('calls of servers that are no providers go directly: %s', async (model) => {
  expect(await statusOf(model)).toBe(200);
  expect(proxy.tunnels).toEqual([]);
});

it('requests for tokens go through it as well', async () => {
  expect(await statusOf('vertex')).toBe(200);
  expect(proxy.tunnels).toContain(`localhost:${port}`);
});

it('a proxy that refuses is an error of the operator, without its password anywhere', async () => {
  proxy.isRefusing = true;
  // The connections of earlier calls are over.
  provider.closeAllConnections();
  await expect.poll(() => statusOf('hosted')).toBeGreaterThanOrEqual(500);
  expect(platform.service.output).not.toContain(PASSWORD);
});
