import { type Simulator, startSimulator } from '@svc/simulator';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiErrorBody, errorOf } from '../response-bodies.js';
import { ENCRYPTED_MODEL, enclaveAt, newNonce } from '../enclaves.js';
import { Platform } from '../platform.js';

let enclave: Simulator;
let replayer: TestServer;
let platform: Platform;

/** A server that responds with the same report to everyone. */
async function replaying(url: string): Promise<TestServer> {
  const old = await (await fetch(`${url}/v1/attestation/report`)).text();
  return TestServer.start((_request, response) => void response.end(old));
}

beforeAll(async () => {
  enclave = await startSimulator();
  replayer = await replaying(enclave.url);
  const model = (id: string, ...backends: object[]): object => ({ ...ENCRYPTED_MODEL, id, backends });
  platform = await Platform.start({
    models: [
      model('encrypted', enclaveAt(enclave.url)),
      model('hardware', enclaveAt(enclave.url, { tee: {} })),
      model('replayed', enclaveAt(replayer.url)),
      model('gone', enclaveAt('http://127.0.0.1:9')),
    ],
    env: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1' },
  });
});

afterAll(async () => {
  await platform.stop();
  await replayer.close();
  await enclave.close();
});

let clients = 0;

/** Each request comes from another address, unless one is given. */
function get(
  path: string,
  query: Record<string, string>,
  client = `203.0.113.${(clients += 1)}`,
): Promise<Response> {
  const url = `${platform.apiUrl}/tee/${path}?${new URLSearchParams(query).toString()}`;
  return fetch(url, { headers: { 'x-forwarded-for': client } });
}

const refusalOf = async (
  path: string,
  query: Record<string, string>,
): Promise<ApiErrorBody & { status: number }> => {
  const response = await get(path, query);
  return { status: response.status, ...(await errorOf(response)) };
};

describe('GET /tee/attestation', () => {
  it('has the key of the enclave, a quote with the nonce, and what was checked and what was not', async () => {
    const nonce = newNonce();
    const response = await get('attestation', { model: 'encrypted', nonce });
    expect(response.status).toBe(200);
    const report = (await response.json()) as { intel_quote: string; signing_address: string };
    expect(report).toMatchObject({
      verified: false,
      simulated: true,
      warning: expect.stringContaining('protects nothing') as string,
      nonce,
      nonce_source: 'client',
      model: 'encrypted',
      tee_provider: 'simulator',
      tee_hardware: 'none',
      signing_key: expect.stringMatching(/^04[0-9a-f]{128}$/) as string,
      signing_algo: 'ecdsa',
      server_verification: {
        tdx: { valid: false, signatureValid: null, debug: true, measurementsAccepted: null },
        signingAddressBinding: { bound: true },
        nonceBinding: { bound: true, method: 'raw' },
      },
    });
    const quote = Buffer.from(report.intel_quote, 'hex');
    expect(quote.toString('hex', 568, 588)).toBe(report.signing_address.slice(2));
    expect(quote.toString('hex', 600, 632)).toBe(nonce);
  });

  it('draws a nonce for a client that sends none', async () => {
    const response = await get('attestation', { model: 'encrypted' });
    const report = (await response.json()) as { nonce: string; intel_quote: string };
    expect(report).toMatchObject({ nonce_source: 'server' });
    expect(report.intel_quote.slice(1_200, 1_264)).toBe(report.nonce);
  });

  it('never gives a client the quote of another one, and the same nonce twice is bound twice', async () => {
    const nonces = Array.from({ length: 10 }, newNonce).flatMap((nonce) => [nonce, nonce]);
    const quotes = await Promise.all(
      nonces.map(async (nonce) => {
        const response = await get('attestation', { model: 'encrypted', nonce });
        return ((await response.json()) as { intel_quote: string }).intel_quote;
      }),
    );
    expect(quotes.map((quote) => quote.slice(1_200, 1_264))).toEqual(nonces);
  });

  it.each([['00'.repeat(31)], ['00'.repeat(33)], ['zz'.repeat(32)], ['']])(
    'refuses the nonce %s',
    async (nonce) => {
      const refusal = await refusalOf('attestation', { model: 'encrypted', nonce });
      expect(refusal).toMatchObject({ status: 400, code: 'INVALID_REQUEST', error: { param: 'nonce' } });
    },
  );

  it.each([
    ['an unknown model', 'no-such-model', { status: 404, code: 'MODEL_NOT_FOUND' }],
    ['a model without enclaves', 'test-model', { status: 400, code: 'INVALID_REQUEST' }],
    ['a simulator where hardware is demanded', 'hardware', { status: 502, code: 'TEE_ATTESTATION_FAILED' }],
    ['an older report', 'replayed', { status: 502, code: 'TEE_ATTESTATION_FAILED' }],
    ['a backend that is down', 'gone', { status: 503, code: 'MODEL_OFFLINE' }],
  ])('refuses %s', async (_, model, refusal) => {
    expect(await refusalOf('attestation', { model, nonce: newNonce() })).toMatchObject(refusal);
  });

  it('takes 10 requests per minute from a network, over both routes', async () => {
    const refusals: Response[] = [];
    for (let count = 0; count < 24; count += 1) {
      const path = count % 2 === 0 ? 'attestation' : 'signature';
      const response = await get(path, { model: 'test-model', request_id: 'r' }, `2001:db8::${count}`);
      if (response.status === 429) refusals.push(response);
    }
    // A minute may end meanwhile, but not two.
    expect(refusals.length).toBeGreaterThanOrEqual(4);
    expect(refusals.length).toBeLessThanOrEqual(14);
    for (const refusal of refusals) {
      expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await errorOf(refusal)).toMatchObject({ error: { message: 'Rate limit exceeded.' } });
    }
    expect((await get('attestation', { model: 'encrypted' }, '2001:db8:0:1::1')).status).toBe(200);
  });
});

describe('GET /tee/signature', () => {
  it('refuses a completion that no enclave has signed, and other algorithms', async () => {
    const request = { model: 'encrypted', request_id: 'chatcmpl-0' };
    expect(await refusalOf('signature', request)).toMatchObject({
      status: 502,
      code: 'TEE_SIGNATURE_FAILED',
    });
    const faulty: [string, Record<string, string>][] = [
      ['signing_algo', { ...request, signing_algo: 'rsa' }],
      ['request_id', { ...request, request_id: '../attestation/report' }],
      ['request_id', { model: 'encrypted' }],
      ['model', { ...request, model: 'test-model' }],
    ];
    for (const [param, query] of faulty)
      expect(await refusalOf('signature', query)).toMatchObject({ status: 400, error: { param } });
  });
});
