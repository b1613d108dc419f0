import { randomBytes } from 'node:crypto';
import { Catalog } from '@svc/catalog';
import type { EncryptionKeys, EnclaveReport, EnclaveSignature } from '@svc/contracts/messages';
import type { RouterPorts } from '../api/router-ports.js';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestBackend, replying } from '../../test/backend.js';
import { catalogFile, collect, deadUrl, patientRouter } from '../../test/routing.js';
import { SerialisedRouter } from '../../test/serialised-router.js';

const CAPABILITIES = { supportsE2EE: true, supportsTeeAttestation: true };
const SIMULATED = { accept: 'simulated' };
/** A point of the curve. */
const CLIENT_KEY =
  '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';
const STALE = { code: 'E2EE_ATTESTATION_STALE' };

const newNonce = (): string => randomBytes(32).toString('hex');

let simulators: Simulator[];
let catalog: Catalog;
let router: RouterPorts;
let stop: () => Promise<void>;

const entryOf = (url: string, members: object = {}): object => ({
  kind: 'vllm-proxy',
  url,
  model: 'x',
  tee: SIMULATED,
  ...members,
});

function offer(...backends: readonly object[]): void {
  catalog.replace(catalogFile({ id: 'm', backends, capabilities: CAPABILITIES }));
}

async function attested(body: { readonly nonce: string }, backend?: string): Promise<EnclaveReport> {
  const origin = { requestId: 'r', accountId: 'a', model: 'm' };
  const call = { ...origin, ...body, ...(backend !== undefined && { backend }) };
  return (await router.enclaves.report(call, new AbortController().signal)).result;
}

const keyOf = async (backend: string): Promise<string> =>
  (await attested({ nonce: newNonce() }, backend)).publicKey;

/** Asks without any message, which needs no ciphertext. */
async function ask(encryption: EncryptionKeys): Promise<{ backend: string; text: string }> {
  const body = [Buffer.from('{"stream":true,"messages":[{"role":"user","content":""}]}')];
  const call = { requestId: 'chatcmpl-1', accountId: 'a', model: 'm', body, encryption };
  const stream = await router.stream(call, new AbortController().signal);
  return { backend: stream.backend, text: await collect(stream) };
}

const keysFor = (modelKey: string): EncryptionKeys => ({ modelKey, clientKey: CLIENT_KEY });

beforeEach(async () => {
  simulators = [await startSimulator(), await startSimulator()];
  catalog = new Catalog(catalogFile({ id: 'm', backends: [] }));
  const quick = patientRouter(catalog, { ROUTER_COOL_DOWN_MS: 1 });
  router = new SerialisedRouter(quick.router);
  ({ stop } = quick);
  offer(...simulators.map(({ url }, at) => entryOf(`${url}/v1`, { name: `enclave-${at}` })));
});

afterEach(async () => {
  await stop();
  await Promise.all(simulators.map((simulator) => simulator.close()));
});

describe('an encrypted chat', () => {
  it('goes only to the backend that holds its key, and has the keys as headers of vllm-proxy', async () => {
    const modelKey = await keyOf('enclave-1');
    for (let turn = 0; turn < 20; turn += 1) expect((await ask(keysFor(modelKey))).backend).toBe('enclave-1');
    expect(simulators.map((simulator) => simulator.requests().length)).toEqual([0, 20]);
    expect(simulators[1]?.requests()[0]?.headers).toMatchObject({
      'x-signing-algo': 'ecdsa',
      'x-client-pub-key': CLIENT_KEY,
      'x-model-pub-key': modelKey,
    });
  });

  it('finds the holder of its key in a router that has attested none', async () => {
    const report = (await (
      await fetch(`${simulators[1]?.url}/v1/attestation/report?nonce=${newNonce()}`)
    ).json()) as { signing_public_key: string };
    const { backend } = await ask(keysFor(`04${report.signing_public_key}`));
    expect(backend).toBe('enclave-1');
  });

  it('with a key that no backend holds is refused, and sent nowhere', async () => {
    await expect(ask(keysFor(CLIENT_KEY))).rejects.toMatchObject(STALE);
    expect(simulators.flatMap((simulator) => simulator.requests())).toEqual([]);
  });

  it('keeps what was attested when the catalogue is reloaded, unless it then demands more', async () => {
    const modelKey = await keyOf('enclave-0');
    const url = `${simulators[0]?.url}/v1`;
    offer(entryOf(url, { name: 'renamed' }));
    expect((await ask(keysFor(modelKey))).backend).toBe('renamed');
    offer(entryOf(url, { tee: { accept: 'hardware' } }));
    await expect(ask(keysFor(modelKey))).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
    expect(simulators[0]?.requests().length).toBe(1);
  });

  it('is refused as stale while a backend with another key responds, and else as offline', async () => {
    const modelKey = await keyOf('enclave-0');
    await simulators[0]?.close();
    let code = 'MODEL_OFFLINE';
    // A report counts for a second even if its backend fails.
    while (code === 'MODEL_OFFLINE')
      code = await ask(keysFor(modelKey)).then(
        () => 'answered',
        (error: { code: string }) => error.code,
      );
    expect(code).toBe(STALE.code);
    offer(entryOf(await deadUrl()));
    await expect(ask(keysFor(modelKey))).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
  });

  it('gets one text for every rejection, whatever the backend says, and none of it is logged', async () => {
    const [first] = simulators;
    const backend = await TestBackend.start(async (response, { url, body }) => {
      if (url.includes('/attestation/')) {
        response.end(await (await fetch(`${first?.url}${url}`)).text());
        return;
      }
      const isShort = body.includes('"short"');
      const message = isShort ? 'the secret is plaintext' : 'Decryption failed';
      await replying(
        { error: { message, type: 'bad_request', param: isShort ? 'seed' : null } },
        isShort ? 422 : 400,
      )(response, { url, body, headers: {} });
    });
    offer(entryOf(backend.url));
    const encryption = keysFor(await keyOf('backend-1'));
    const problemOf = async (member: string): Promise<unknown> => {
      const call = {
        requestId: 'r',
        accountId: 'a',
        model: 'm',
        body: [Buffer.from(`{"${member}":1}`)],
        encryption,
      };
      return router.stream(call, new AbortController().signal).then(
        () => undefined,
        ({ code, message, param }: { code: string; message: string; param: string }) => ({
          code,
          message,
          param,
        }),
      );
    };
    const rejected = await problemOf('short');
    expect(rejected).toMatchObject({ code: 'INVALID_REQUEST', param: 'messages' });
    expect(await problemOf('long')).toEqual(rejected);
    expect(JSON.stringify(rejected)).not.toContain('plaintext');
    await backend.close();
  });
});

describe('an attestation', () => {
  it('is bound to the nonce of its caller, also when many ask at once', async () => {
    const nonces = Array.from({ length: 20 }, newNonce);
    const reports = await Promise.all(nonces.map((nonce) => attested({ nonce })));
    for (const [at, { nonce, quote, nonceMethod }] of reports.entries()) {
      expect(nonce).toBe(nonces[at]);
      expect(quote.slice(1_200, 1_264)).toBe(nonce);
      expect(nonceMethod).toBe('raw');
    }
  });

  it('says that the enclave is simulated and in debug mode', async () => {
    expect(await attested({ nonce: newNonce() })).toMatchObject({
      isDebug: true,
      isSimulated: true,
      isMeasured: false,
      provider: 'simulator',
    });
  });

  it.each([
    ['hardware is demanded', { accept: 'hardware' }],
    ['the catalogue lists other software', { ...SIMULATED, measurements: [{ mrtd: 'ab'.repeat(48) }] }],
  ])('is refused if %s', async (_, tee) => {
    offer(entryOf(`${simulators[0]?.url}/v1`, { tee }));
    await expect(attested({ nonce: newNonce() })).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
  });

  it('is accepted if the catalogue lists the software', async () => {
    const { measurements } = await attested({ nonce: newNonce() });
    const { mrtd, rtmr3 } = measurements;
    offer(entryOf(`${simulators[0]?.url}/v1`, { tee: { ...SIMULATED, measurements: [{ mrtd, rtmr3 }] } }));
    expect(await attested({ nonce: newNonce() })).toMatchObject({ isMeasured: true });
  });

  /** Changes the report of a simulator, and returns whether it is still accepted. */
  async function isAccepted(change: (report: Record<string, string>) => object): Promise<boolean> {
    const backend = await TestBackend.start(async (response, { url }) => {
      const report = (await (await fetch(`${simulators[0]?.url}${url}`)).json()) as Record<string, string>;
      response.end(JSON.stringify(change(report)));
    });
    offer(entryOf(backend.url));
    const accepted = await attested({ nonce: newNonce() }).then(
      () => true,
      () => false,
    );
    await backend.close();
    return accepted;
  }

  it('is refused if it is an older one, of another key, of another kind or no report at all', async () => {
    const older = (await (
      await fetch(`${simulators[0]?.url}/v1/attestation/report?nonce=${newNonce()}`)
    ).json()) as object;
    const other = (await (
      await fetch(`${simulators[1]?.url}/v1/attestation/report?nonce=${newNonce()}`)
    ).json()) as { signing_public_key: string };
    const quoteOf = (report: Record<string, string>): string => report['intel_quote'] ?? '';
    expect(await isAccepted((report) => report)).toBe(true);
    const inBase64 = (report: Record<string, string>): object => ({
      ...report,
      intel_quote: Buffer.from(quoteOf(report), 'hex').toString('base64'),
    });
    expect(await isAccepted(inBase64)).toBe(true);
    const changes: ((report: Record<string, string>) => object)[] = [
      () => older,
      (report) => ({ ...report, signing_public_key: other.signing_public_key }),
      (report) => ({ ...report, signing_public_key: '11'.repeat(64) }),
      (report) => ({ ...report, intel_quote: quoteOf(report).replace(/^(.{8})81/, '$100') }),
      (report) => ({ ...report, intel_quote: quoteOf(report).slice(0, 1_262) }),
      (report) => ({ ...report, intel_quote: undefined }),
      () => [],
    ];
    for (const change of changes) expect(await isAccepted(change)).toBe(false);
  });
});

describe('a signature', () => {
  const signatureOf = async (requestId: string): Promise<EnclaveSignature> => {
    const origin = { requestId: 'r', accountId: 'a', model: 'm' };
    const call = { ...origin, signed: { requestId, algorithm: 'ecdsa' } };
    return (await router.enclaves.signature(call, new AbortController().signal)).result;
  };

  it('is found at the backend that sent the completion, by the id of the request', async () => {
    const { publicKey, address } = await attested({ nonce: newNonce() }, 'enclave-1');
    await ask(keysFor(publicKey));
    expect(await signatureOf('chatcmpl-1')).toMatchObject({
      address,
      textCovers: 'fields',
    });
    await expect(signatureOf('chatcmpl-2')).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
  });

  it('is found by another router process', async () => {
    const { publicKey, address } = await attested({ nonce: newNonce() }, 'enclave-0');
    await ask(keysFor(publicKey));
    const other = patientRouter(catalog);
    router = other.router;
    expect(await signatureOf('chatcmpl-1')).toMatchObject({ address });
    await other.stop();
  });
});
