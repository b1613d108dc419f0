import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { evmWallet, signedInAt } from '../wallets.js';

/** USD per million characters: a character costs 0.0001 USD. */
const PRICE = 100;

/** 20 characters, of which one is outside the basic plane. */
const INPUT = 'Hello 🙂 my old friend';
const COST = '0.0021';
const LEFT = '0.9979';

/** Ten seconds of speech. */
const LONG = 'a'.repeat(150);
const LONG_LEFT = '0.985';

let backend: Simulator;
let platform: Platform;
let account: TestAccount;

/** A model with one simulated backend per entry of `settings`. */
function model(id: string, settings: readonly string[] = [''], more: object = {}): object {
  return {
    id,
    name: id,
    type: 'tts',
    tier: 'XS',
    voices: ['anna', 'ben'],
    defaultVoice: 'ben',
    voiceAliases: { alloy: 'anna' },
    formats: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'],
    defaultFormat: 'mp3',
    pricing: { input: PRICE },
    backends: settings.map((setting, at) => ({
      url: `${backend.url}/v1`,
      model: `voice${setting}`,
      // Makes it practically certain that the first one is called first.
      weight: at === 0 ? 1e9 : 1e-9,
    })),
    ...more,
  };
}

const FAULTS = ['html', 'json', 'type', 'nothing', 'cut', '500', '503', '404'] as const;

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  platform = await Platform.start({
    models: [
      model('voice', [''], { aliases: ['tts-1'] }),
      model('some-formats', [''], { formats: ['wav', 'pcm'], defaultFormat: 'wav' }),
      model('custom', [''], { supportsCustomVoiceId: true }),
      model('cloning', [''], { extraFields: ['ref_audio', 'ref_text'] }),
      model('paid', [''], { paidOnly: true }),
      model('free', [''], { pricing: { input: 0 } }),
      model('refuses', [';fault=400']),
      model('never', [';fault=stall']),
      model('slow', [';itl-ms=600000']),
      model('almost', [';fault=stall-mid-stream;after=9']),
      ...FAULTS.map((fault) => model(`fault-${fault}`, [`;fault=${fault}`])),
      ...FAULTS.map((fault) => model(`saved-${fault}`, [`;fault=${fault}`, ''])),
      model('cut', [';fault=cut-mid-stream;after=3']),
    ],
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});
beforeEach(() => backend.clearLog());

function post(body: object, init: RequestInit & { apiKey?: string } = {}): Promise<Response> {
  const { apiKey = account.apiKey, ...rest } = init;
  return fetch(`${platform.apiUrl}/audio/speech`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...rest,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...rest.headers },
  });
}

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

/** Reads the beginning of a response, and returns the number of bytes that arrived. */
async function received({ body }: Response, atLeast: number): Promise<number> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let bytes = 0;
  while (bytes < atLeast) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
  }
  return bytes;
}

const usdOf = async ({ id }: TestAccount): Promise<string> => (await platform.balances(id)).usd;

async function expectLeft(own: TestAccount, left: string): Promise<void> {
  await eventually(`${left} is left`, async () => (await usdOf(own)) === left);
  expect(await usdOf(own)).toBe(left);
}

describe('POST /audio/speech', () => {
  it('returns the whole file, and charges its characters', async () => {
    const own = await platform.account('1.00');
    const response = await post({ model: 'voice', input: INPUT, voice: 'anna' }, { apiKey: own.apiKey });
    expect(response.status).toBe(200);
    const bytes = await bytesOf(response);
    // 21 characters are 1.4 s, and a frame of 96 bytes is 24 ms.
    expect(bytes.length).toBe(Math.round(1.4 / 0.024) * 96);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': String(bytes.length),
      'x-content-type-options': 'nosniff',
      'x-svc-model-id': 'voice',
      'x-svc-model-router': 'backend-1',
      'x-ratelimit-type': 'user',
      'x-svc-balance-usd': '1.00',
    });
    await expectLeft(own, LEFT);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it.each([{ streaming: true }, { stream_format: 'audio' }])('streams it on request: %j', async (how) => {
    const whole = await bytesOf(await post({ model: 'voice', input: LONG, response_format: 'wav' }));
    const own = await platform.account('1.00');
    const request = { model: 'voice', input: LONG, response_format: 'wav', ...how };
    const response = await post(request, { apiKey: own.apiKey });
    expect(response.headers.get('content-length')).toBeNull();
    expect(await bytesOf(response)).toEqual(whole);
    await expectLeft(own, LONG_LEFT);
  });

  it('sends the first bytes of a stream before the backend has made the next', async () => {
    const abort = new AbortController();
    const { signal } = abort;
    const response = await post({ model: 'slow', input: LONG, streaming: true }, { signal });
    expect(await received(response, 1)).toBeGreaterThan(0);
    abort.abort();
  });

  it.each([
    ['mp3', 'audio/mpeg', '\xff\xfb'],
    ['opus', 'audio/opus', 'OggS'],
    ['aac', 'audio/aac', '\xff\xf1'],
    ['flac', 'audio/flac', 'fLaC'],
    ['wav', 'audio/wav', 'RIFF'],
    ['pcm', 'audio/pcm', '\0\0'],
  ])('offers %s', async (format, type, begin) => {
    const response = await post({ model: 'voice', input: INPUT, response_format: format });
    expect(response.headers.get('content-type')).toBe(type);
    expect((await bytesOf(response)).toString('latin1', 0, begin.length)).toBe(begin);
  });

  it('adds the request to the billing rows, in millions of characters and without tokens', async () => {
    const own = await platform.account('1.00');
    const admin = await platform.operator('POST', `/accounts/${own.id}/api_keys`, {
      apiKeyType: 'ADMIN',
      description: '',
    });
    await bytesOf(await post({ model: 'voice', input: INPUT }, { apiKey: own.apiKey }));
    const rows = async (): Promise<Record<string, unknown>[]> => {
      const response = await fetch(`${platform.apiUrl}/billing/usage`, {
        headers: { authorization: `Bearer ${String(admin.body['apiKey'])}` },
      });
      return ((await response.json()) as { data: Record<string, unknown>[] }).data;
    };
    await eventually('it is there', async () => (await rows()).length === 1);
    expect(await rows()).toMatchObject([
      {
        sku: 'voice-tts-input-mchar',
        amount: -Number(COST),
        units: 0.000021,
        pricePerUnitUsd: PRICE,
        inferenceDetails: { promptTokens: null, completionTokens: null },
      },
    ]);
  });

  it('passes its fields to the backend under the names that it knows', async () => {
    const own = { seed: 7, top_k: 3 };
    const dropped = { ref_audio: '/etc/passwd', max_new_tokens: 9_999, extra_params: { lora: 'x' } };
    const more = { speed: 1.5, instructions: 'slowly', language: 'en', temperature: 0.5, top_p: 0.9 };
    await bytesOf(
      await post({ model: 'voice', input: INPUT, voice: { id: 'anna' }, ...more, ...own, ...dropped }),
    );
    expect(JSON.parse(backend.requests().at(-1)?.body ?? '')).toEqual({
      model: 'voice',
      input: INPUT,
      voice: 'anna',
      response_format: 'mp3',
      ...more,
      ...own,
    });
  });

  it('passes further fields that the catalogue adds for the model', async () => {
    const own = { ref_audio: 'data:audio/wav;base64,UklGRg==', ref_text: 'said before' };
    await bytesOf(await post({ model: 'cloning', input: INPUT, max_new_tokens: 9_999, ...own }));
    const received = JSON.parse(backend.requests().at(-1)?.body ?? '') as object;
    expect(received).toMatchObject(own);
    expect(received).not.toHaveProperty('max_new_tokens');
  });

  it.each([
    ['voice', undefined, 'ben'],
    ['voice', 'alloy', 'anna'],
    ['custom', 'vv_1', 'vv_1'],
  ])('of the model %s speaks %s with the voice %s', async (id, voice, spoken) => {
    await bytesOf(await post({ model: id, input: INPUT, voice }));
    expect(JSON.parse(backend.requests().at(-1)?.body ?? '')).toMatchObject({ voice: spoken });
  });

  it('serves a wallet', async () => {
    const wallet = evmWallet();
    const { body } = await platform.operator('POST', '/accounts', { name: 'w', wallet: wallet.address });
    const credit = { usd: '1.00', reference: 'r' };
    await platform.operator('POST', `/accounts/${String(body['id'])}/credits`, credit);
    const response = await fetch(`${platform.apiUrl}/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await signedInAt(platform.rootUrl, wallet)) },
      body: JSON.stringify({ model: 'voice', input: INPUT }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-balance-remaining')).toBe(LEFT);
  });

  it('costs nothing with a free model', async () => {
    const own = await platform.account('1.00');
    const free = await post({ model: 'free', input: INPUT }, { apiKey: own.apiKey });
    expect((await bytesOf(free)).length).toBeGreaterThan(0);
    await bytesOf(await post({ model: 'voice', input: INPUT }, { apiKey: own.apiKey }));
    await expectLeft(own, LEFT);
  });
});

describe('a request for speech', () => {
  it.each([
    [{ input: 'a' }, 'model'],
    [{ model: 'voice' }, 'input'],
    [{ model: 'voice', input: '' }, 'input'],
    [{ model: 'voice', input: ' \n\t' }, 'input'],
    [{ model: 'voice', input: '…!? *** 🙂' }, 'input'],
    [{ model: 'voice', input: 'a'.repeat(4_097) }, 'input'],
    [{ model: 'voice', input: '🙂'.repeat(4_096) + 'a' }, 'input'],
    [{ model: 'voice', input: 'a', INPUT: 'a longer text' }, 'INPUT'],
    [{ model: 'voice', input: 'a', voice: 'clara' }, 'voice'],
    [{ model: 'voice', input: 'a', voice: { id: 'clara' } }, 'voice.id'],
    [{ model: 'voice', input: 'a', voice: 'constructor' }, 'voice'],
    [{ model: 'custom', input: 'a', voice: 'v'.repeat(513) }, 'voice'],
    [{ model: 'voice', input: 'a', response_format: 'ogg' }, 'response_format'],
    [{ model: 'some-formats', input: 'a', response_format: 'mp3' }, 'response_format'],
    [{ model: 'voice', input: 'a', speed: 4.1 }, 'speed'],
    [{ model: 'voice', input: 'a', stream_format: 'sse' }, 'stream_format'],
    [{ model: 'voice', input: 'a', prompt: 'p'.repeat(501) }, 'prompt'],
    [{ model: 'voice', input: 'a', prompt: 'fast', instructions: 'slow' }, 'instructions'],
    [{ model: 'voice', input: 'a', temperature: 3 }, 'temperature'],
    [{ model: 'voice', input: 'a', language: 'e' }, 'language'],
    [{ model: 'voice', input: 'a', ref_audio: 'http://169.254.169.254/' }, 'ref_audio'],
  ])('is refused with the name of its invalid field: %#', async (body, param) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
    expect(backend.requests()).toEqual([]);
  });

  it('may have 4,096 characters, counted as code points', async () => {
    const own = await platform.account('1.00');
    const response = await post({ model: 'voice', input: `a${'🙂'.repeat(4_095)}` }, { apiKey: own.apiKey });
    expect((await bytesOf(response)).length).toBe(Math.round(4_096 / 15 / 0.024) * 96);
    await expectLeft(own, '0.5904');
  });

  it.each([
    ['test-model', 404, 'MODEL_NOT_FOUND'],
    ['nothing', 404, 'MODEL_NOT_FOUND'],
    ['refuses', 400, 'INVALID_REQUEST'],
  ])('for the model %s is rejected', async (id, status, code) => {
    const response = await post({ model: id, input: 'a' });
    expect(response.status).toBe(status);
    expect((await errorOf(response)).code).toBe(code);
  });

  it('for a paid model is refused for an unpaid account', async () => {
    const { apiKey } = await platform.account('1.00', { paid: false });
    expect((await errorOf(await post({ model: 'paid', input: 'a' }, { apiKey }))).code).toBe(
      'PRO_ONLY_MODEL',
    );
  });

  it('that its account cannot pay is refused', async () => {
    const { apiKey } = await platform.account('0.002');
    const refused = await post({ model: 'voice', input: INPUT }, { apiKey });
    expect((await errorOf(refused)).code).toBe('INSUFFICIENT_BALANCE');
    expect(backend.requests()).toEqual([]);
  });
});

describe('a client that disconnects', () => {
  const isCancelled = (): Promise<void> =>
    eventually('the backend call is closed', () => backend.cancellations().length === 1);

  it.each([{}, { streaming: true }])('before the first byte pays nothing: %j', async (how) => {
    const own = await platform.account('1.00');
    const abort = new AbortController();
    const { signal } = abort;
    const request = post({ model: 'never', input: INPUT, ...how }, { apiKey: own.apiKey, signal });
    await eventually('the backend is called', () => backend.requests().length === 1);
    abort.abort();
    await expect(request).rejects.toThrow(/abort/i);
    await isCancelled();
    await bytesOf(await post({ model: 'voice', input: INPUT }, { apiKey: own.apiKey }));
    await expectLeft(own, LEFT);
  });

  it('before a file is whole pays nothing', async () => {
    const own = await platform.account('1.00');
    const abort = new AbortController();
    const { signal } = abort;
    const request = post({ model: 'almost', input: LONG }, { apiKey: own.apiKey, signal });
    await eventually('the backend is called', () => backend.requests().length === 1);
    abort.abort();
    await expect(request).rejects.toThrow(/abort/i);
    await isCancelled();
    await bytesOf(await post({ model: 'voice', input: INPUT }, { apiKey: own.apiKey }));
    await expectLeft(own, LEFT);
  });

  it.each([
    ['after the first byte', 'slow', 1],
    ['before the last byte', 'almost', 9],
  ])('%s of a stream pays the full price', async (_, id, pieces) => {
    const own = await platform.account('1.00');
    const abort = new AbortController();
    const { signal } = abort;
    const request = { model: id, input: LONG, streaming: true, response_format: 'pcm' };
    const response = await post(request, { apiKey: own.apiKey, signal });
    expect(await received(response, pieces * 48_000)).toBeGreaterThanOrEqual(pieces * 48_000);
    abort.abort();
    await isCancelled();
    await expectLeft(own, LONG_LEFT);
  });
});

describe('a backend', () => {
  it.each(FAULTS)('costs nothing with a wrong response: %s', async (fault) => {
    const own = await platform.account('1.00');
    const response = await post({ model: `fault-${fault}`, input: INPUT }, { apiKey: own.apiKey });
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await usdOf(own)).toBe('1.00');
  });

  it.each(FAULTS)('is replaced by the next after a wrong response: %s', async (fault) => {
    const response = await post({ model: `saved-${fault}`, input: INPUT });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-svc-model-router')).toBe('backend-2');
    expect((await bytesOf(response)).toString('latin1', 0, 2)).toBe('\xff\xfb');
  });

  it('that fails in the middle costs nothing, and the client sees a broken file', async () => {
    const own = await platform.account('1.00');
    const request = { model: 'cut', input: LONG };
    const streamed = await post({ ...request, streaming: true }, { apiKey: own.apiKey });
    expect(streamed.status).toBe(200);
    await expect(streamed.arrayBuffer()).rejects.toThrow(/terminated|closed/);
    const whole = await post(request, { apiKey: own.apiKey });
    expect((await errorOf(whole)).code).toBe('INFERENCE_FAILED');
    await eventually('nothing is held', async () => (await usdOf(own)) === '1.00');
  });
});
