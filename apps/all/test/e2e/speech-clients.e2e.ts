import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createOpenAI } from '@ai-sdk/openai';
import { generateSpeech } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

/** USD per million characters. */
const PRICE = 100;

/** Ten seconds of speech. */
const LONG = 'a'.repeat(150);

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  const voice = {
    id: 'voice',
    name: 'Voice',
    type: 'tts',
    tier: 'XS',
    voices: ['anna', 'ben'],
    defaultVoice: 'ben',
    voiceAliases: { alloy: 'anna' },
    formats: ['mp3', 'opus'],
    defaultFormat: 'mp3',
    pricing: { input: PRICE },
    aliases: ['tts-1'],
  };
  platform = await Platform.start({ models: [voice] });
  account = await platform.account('100.00');
});
afterAll(() => platform.stop());

describe('what Open WebUI asks for', () => {
  it('is the list of voices and of the models that have them, without a key', async () => {
    const listed = async (name: string): Promise<unknown> =>
      (await fetch(`${platform.apiUrl}/audio/${name}`)).json();
    expect(await listed('voices')).toEqual({
      voices: expect.arrayContaining([
        { id: 'anna', name: 'anna' },
        { id: 'ben', name: 'ben' },
      ]),
    });
    expect(await listed('models')).toMatchObject({
      models: expect.arrayContaining([expect.objectContaining({ id: 'voice' })]),
    });
  });
});

describe('GET /models', () => {
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${platform.apiUrl}/models${path}`)).json();

  it('lists speech models with their voices, formats and prices', async () => {
    const { data } = (await get('?type=tts')) as { data: readonly { readonly id: string }[] };
    expect(data.find(({ id }) => id === 'voice')).toMatchObject({
      type: 'tts',
      model_spec: {
        voices: ['anna', 'ben'],
        default_voice: 'ben',
        supported_formats: ['mp3', 'opus'],
        default_format: 'mp3',
        supports_custom_voice_id: false,
        pricing: { input: { usd: PRICE, diem: PRICE } },
      },
    });
  });

  it('finds a speech model by its alias', async () => {
    expect(await get('/tts-1')).toMatchObject({ id: 'voice' });
    expect(await get('/compatibility_mapping?type=tts')).toMatchObject({ data: { 'tts-1': 'voice' } });
  });
});

describe('the openai client', () => {
  it('pipes speech to a file', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'svc-speech-'));
    const path = join(dir, 'speech.mp3');
    try {
      const response = await account.openai.audio.speech.create({
        model: 'tts-1',
        voice: 'alloy',
        input: LONG,
      });
      await pipeline(Readable.fromWeb(response.body as never), createWriteStream(path));
      expect((await readFile(path)).length).toBe(Math.round(10 / 0.024) * 96);
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it('reads streamed speech, and the error of a refusal', async () => {
    const { speech } = account.openai.audio;
    const request = { model: 'tts-1', voice: 'alloy', input: LONG, stream_format: 'audio' } as const;
    const response = await speech.create({ ...request, response_format: 'opus' });
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 4)).toBe('OggS');
    await expect(speech.create({ ...request, voice: 'clara' })).rejects.toMatchObject({
      status: 400,
      param: 'voice',
    });
  });
});

describe('the AI SDK', () => {
  it('makes speech', async () => {
    const provider = createOpenAI({ baseURL: platform.apiUrl, apiKey: account.apiKey });
    const { audio, warnings } = await generateSpeech({
      model: provider.speech('tts-1'),
      voice: 'alloy',
      text: LONG,
    });
    expect(audio.format).toBe('mp3');
    expect(audio.uint8Array.length).toBe(Math.round(10 / 0.024) * 96);
    expect(warnings).toEqual([]);
  });
});
