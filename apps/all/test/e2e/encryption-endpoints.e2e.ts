import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { EncryptionSession } from '../encryption-session.js';
import { Platform, type TestAccount } from '../platform.js';

let enclave: Simulator;
let platform: Platform;
let account: TestAccount;
let session: EncryptionSession;

beforeAll(async () => {
  enclave = await startSimulator();
  const backends = [{ url: `${enclave.url}/v1`, model: 'embed;dimensions=8' }];
  platform = await Platform.start({
    models: [
      { ...ENCRYPTED_MODEL, backends: [enclaveAt(enclave.url)] },
      {
        id: 'vectors',
        name: 'Vectors',
        type: 'embedding',
        tier: 'XS',
        embeddingDimensions: 8,
        pricing: { input: 1 },
        backends,
      },
    ],
  });
  account = await platform.account('1.00');
  session = await EncryptionSession.with(enclave);
});

afterAll(async () => {
  await platform.stop();
  await enclave.close();
});

function send(
  method: string,
  path: string,
  { body, headers = {} }: { body: unknown; headers?: object },
): Promise<Response> {
  const url = new URL(path.replaceAll(/:\w+/g, 'x'), platform.apiUrl);
  return fetch(url, {
    method,
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json', ...headers },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });
}

/** The message of an error in either form, and the field that it names. */
async function refusalOf(response: Response): Promise<{ status: number; message: string; text: string }> {
  const text = await response.text();
  const { error } = JSON.parse(text) as { error: { message: string } | string };
  return { status: response.status, message: typeof error === 'string' ? error : error.message, text };
}

/** All routes on which clients spend money, except the one that has encryption. */
const OTHERS = (Object.values(routes) as readonly RouteDefinition[]).filter(
  ({ access, mayBeEncrypted }) => access === 'key-or-wallet' && !mayBeEncrypted,
);

const messages = [{ role: 'user', content: 'Say exactly "hi"' }];
/** Endpoints whose requests are translated into chat completions. */
const TRANSLATED: readonly (readonly [string, object])[] = [
  ['/completions', { model: 'encrypted', prompt: 'hi' }],
  ['/responses', { model: 'encrypted', input: 'hi' }],
  ['/messages', { model: 'encrypted', max_tokens: 16, messages }],
  ['/messages/count_tokens', { model: 'encrypted', messages }],
  ['/responses/input_tokens', { model: 'encrypted', input: 'hi' }],
];
const WORKING = [...TRANSLATED, ['/embeddings', { model: 'vectors', input: 'hi' }] as const];

describe('encryption on another endpoint than chat completions', () => {
  it('concerns every other endpoint that costs money', () => {
    const paths = OTHERS.map(({ path }) => path);
    for (const [path] of WORKING) expect(paths).toContain(`/api/v1${path}`);
    expect(paths).toContain('/api/v1/image/generate');
    expect(paths).not.toContain('/api/v1/chat/completions');
  });

  it.each(OTHERS.map(({ method, path }) => [method, path] as const))(
    'is refused before the body is read, naming the header: %s %s',
    async (method, path) => {
      const sent = Object.entries(session.headers);
      for (const [name, value] of sent) {
        const body = { model: 'encrypted', text: 'plaintext of a client' };
        const refusal = await refusalOf(await send(method, path, { body, headers: { [name]: value } }));
        expect(refusal.status).toBe(400);
        expect(refusal.message.toLowerCase()).toContain(`invalid e2ee headers: ${name} works only with`);
        expect(refusal.text).not.toContain(value);
      }
    },
  );

  it('needs credentials to be refused', async () => {
    const headers = { ...session.headers, authorization: 'Bearer SVC_INFERENCE_KEY_wrong' };
    expect((await send('POST', '/api/v1/embeddings', { body: {}, headers })).status).toBe(401);
  });

  it.each(WORKING)('is not part of a plain request: %s', async (path, body) => {
    expect((await send('POST', `/api/v1${path}`, { body })).status).toBe(200);
  });

  it.each(TRANSLATED)('is refused in the body, naming the field: %s', async (path, body) => {
    enclave.clearLog();
    const parameters = (isOn: boolean): object => ({ ...body, svc_parameters: { enable_e2ee: isOn } });
    const refusal = await refusalOf(await send('POST', `/api/v1${path}`, { body: parameters(true) }));
    expect(refusal.status).toBe(400);
    expect(refusal.text).toContain('enable_e2ee');
    expect(refusal.text).toContain('Encryption works only with POST /api/v1/chat/completions');
    expect(enclave.requests()).toEqual([]);
    expect((await send('POST', `/api/v1${path}`, { body: parameters(false) })).status).toBe(200);
  });

  it('is refused for embeddings, which are never encrypted', async () => {
    const body = { model: 'vectors', input: 'hi', svc_parameters: { enable_e2ee: true } };
    const refusal = await refusalOf(await send('POST', '/api/v1/embeddings', { body }));
    expect(refusal.status).toBe(400);
    expect(refusal.text).toContain('svc_parameters');
  });
});
