import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { silentWav } from '../silent-wav.js';

let backend: Simulator;
let platform: Platform;
let account: TestAccount;
let other: TestAccount;

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  const model = (id: string, more: object): object => ({
    id,
    name: id,
    type: 'tts',
    tier: 'XS',
    voices: ['anna'],
    defaultVoice: 'anna',
    formats: ['mp3'],
    defaultFormat: 'mp3',
    pricing: { input: 100 },
    backends: [{ url: `${backend.url}/v1`, model: 'voice' }],
    ...more,
  });
  platform = await Platform.start({
    models: [
      model('clones', { voiceCloning: { minSeconds: 0.5 }, aliases: ['tts-1'] }),
      model('clones-too', { voiceCloning: { minSeconds: 1 } }),
      model('long', { voiceCloning: {} }),
      model('flac', { voiceCloning: { minSeconds: 0.5, formats: ['flac'] } }),
      model('plain', {}),
    ],
  });
  account = await platform.account('1.00');
  other = await platform.account('1.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

interface Sample {
  readonly model?: string;
  readonly bytes?: Buffer;
  readonly text?: string;
  readonly by?: TestAccount;
}

function clone({
  model = 'clones',
  bytes = silentWav(),
  text,
  by = account,
}: Sample = {}): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), 'a.wav');
  form.append('model', model);
  if (text !== undefined) form.append('text', text);
  const headers = { authorization: `Bearer ${by.apiKey}` };
  return fetch(`${platform.apiUrl}/audio/voices`, { method: 'POST', headers, body: form });
}

async function cloned(sample?: Sample): Promise<string> {
  const response = await clone(sample);
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

function speak(voice: string | object, model = 'clones', { apiKey } = account): Promise<Response> {
  return fetch(`${platform.apiUrl}/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'Hello', voice }),
  });
}

describe('a cloned voice', () => {
  it('costs nothing, and servers get its sample with each text', async () => {
    const response = await clone({ model: 'tts-1' });
    const { id, model } = (await response.json()) as { id: string; model: string };
    expect([id, model]).toEqual([expect.stringMatching(/^vv_[0-9a-f]{32}$/), 'clones']);
    expect(response.headers.get('x-svc-balance-usd')).toBe('1.00');
    const spoken = await speak(id);
    expect([spoken.status, (await spoken.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
    const received = JSON.parse(backend.requests().at(-1)?.body ?? '') as Record<string, unknown>;
    expect(received).toMatchObject({ task_type: 'Base', x_vector_only_mode: true, input: 'Hello' });
    expect(received).not.toHaveProperty('voice');
    const [type, base64 = ''] = String(received['ref_audio']).split(';base64,');
    expect(type).toBe('data:audio/wav');
    expect(Buffer.from(base64, 'base64').subarray(-16_000)).toEqual(silentWav().subarray(-16_000));
  });

  it('is sent with what is said in its sample', async () => {
    const id = await cloned({ text: 'nothing at all' });
    await (await speak({ id })).arrayBuffer();
    const received = JSON.parse(backend.requests().at(-1)?.body ?? '') as Record<string, unknown>;
    expect(received).toMatchObject({ ref_text: 'nothing at all' });
    expect(received).not.toHaveProperty('x_vector_only_mode');
  });

  it('belongs to its account and its model', async () => {
    const id = await cloned();
    for (const [model, by] of [
      ['clones', other],
      ['clones-too', account],
      ['plain', account],
    ] as const) {
      const response = await speak(id, model, by);
      expect([response.status, (await errorOf(response)).error]).toEqual([
        400,
        expect.objectContaining({ param: 'voice' }),
      ]);
    }
    const named = await speak({ id: 'vv_0' });
    expect((await errorOf(named)).error).toMatchObject({ param: 'voice.id' });
  });

  it('is described with its model', async () => {
    const response = await fetch(`${platform.apiUrl}/models/long`);
    expect(await response.json()).toMatchObject({
      model_spec: {
        voice_cloning: {
          mode: 'zero_shot',
          accepted_formats: ['wav', 'mp3', 'flac'],
          min_sample_seconds: 3,
          max_sample_seconds: 30,
          retention_days: 7,
        },
      },
    });
  });
});

describe('a sample', () => {
  it.each<[string, Sample, string]>([
    ['that is too short', { model: 'long' }, 'file'],
    ['of another format', { model: 'flac' }, 'file'],
    ['that is no audio', { bytes: Buffer.from('no audio') }, 'file'],
    ['for a model that clones no voices', { model: 'plain' }, 'model'],
    ['with an empty text', { text: '' }, 'text'],
  ])('%s is refused', async (_what, sample, param) => {
    const response = await clone(sample);
    expect([response.status, (await errorOf(response)).error]).toEqual([
      400,
      expect.objectContaining({ param }),
    ]);
  });

  it('is refused if the account has 20', async () => {
    const by = await platform.account('1.00');
    const all = await Promise.all(Array.from({ length: 22 }, () => clone({ by })));
    const refused = all.filter(({ status }) => status === 429);
    expect([all.filter(({ status }) => status === 200).length, refused.length]).toEqual([20, 2]);
    const [first = new Response()] = refused;
    expect(await errorOf(first)).toMatchObject({ code: 'MEDIA_STORAGE_FULL' });
  });
});
