import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { transcribe } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { silentWav } from '../silent-wav.js';

const PRICE = 0.0001;

let platform: Platform;
let account: TestAccount;
let folder: string;
/** A second of silence. */
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-audio-'));
  path = join(folder, 'speech.wav');
  await writeFile(path, silentWav());
  const ear = {
    id: 'ear',
    name: 'Ear',
    type: 'asr',
    tier: 'XS',
    maxSeconds: 60,
    pricing: { perAudioSecond: PRICE },
    aliases: ['whisper-1'],
  };
  platform = await Platform.start({ models: [ear] });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true });
});

describe('GET /models', () => {
  it('lists transcription models with their price', async () => {
    const response = await fetch(`${platform.apiUrl}/models?type=asr`);
    const { data } = (await response.json()) as { data: readonly { readonly id: string }[] };
    expect(data.find(({ id }) => id === 'ear')).toMatchObject({
      type: 'asr',
      model_spec: { maxSeconds: 60, pricing: { per_audio_second: { usd: PRICE, diem: PRICE } } },
    });
  });
});

describe('the openai client', () => {
  it('transcribes a file that it streams', async () => {
    const reply = await account.openai.audio.transcriptions.create({
      model: 'whisper-1',
      file: createReadStream(path),
    });
    expect(reply.text).toMatch(/\.$/);
    expect(reply.usage).toEqual({ type: 'duration', seconds: 1 });
  });

  it('reads every format', async () => {
    const { transcriptions } = account.openai.audio;
    const request = (): { model: string; file: ReturnType<typeof createReadStream> } => ({
      model: 'ear',
      file: createReadStream(path),
    });
    const verbose = await transcriptions.create({
      ...request(),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(verbose).toMatchObject({ duration: 1, segments: [{ id: 0, start: 0, end: 1 }] });
    expect(verbose.words?.map(({ word }) => word).join(' ')).toBe(verbose.text);
    expect(await transcriptions.create({ ...request(), response_format: 'text' })).toBe(verbose.text);
    expect(await transcriptions.create({ ...request(), response_format: 'srt' })).toBe(
      `1\n00:00:00,000 --> 00:00:01,000\n${verbose.text}\n`,
    );
    expect(await transcriptions.create({ ...request(), response_format: 'vtt' })).toMatch(/^WEBVTT\n/);
  });

  it('reads the events of a stream', async () => {
    const request = { model: 'ear', file: createReadStream(path), stream: true } as const;
    const events: unknown[] = [];
    for await (const event of await account.openai.audio.transcriptions.create(request)) events.push(event);
    const text = expect.stringMatching(/\.$/) as unknown;
    expect(events).toEqual([
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, usage: { type: 'duration', seconds: 1 } },
    ]);
  });

  it('gets an error in place of a stream, as for other requests', async () => {
    const file = new File(['no audio'], 'speech.wav');
    await expect(
      account.openai.audio.transcriptions.create({ model: 'whisper-1', file, stream: true }),
    ).rejects.toMatchObject({ status: 400, param: 'file' });
  });

  it('translates', async () => {
    const body = new FormData();
    body.append('model', 'whisper-1');
    body.append('file', new Blob([new Uint8Array(silentWav())]), 'speech.wav');
    const reply = await account.openai.post('/audio/translations', { body });
    expect(reply).toMatchObject({ duration: 1, text: expect.stringMatching(/^Translated: /) as unknown });
  });

  it('reads the error of a refusal', async () => {
    const file = new File(['no audio'], 'speech.wav');
    await expect(
      account.openai.audio.transcriptions.create({ model: 'whisper-1', file }),
    ).rejects.toMatchObject({ status: 400, param: 'file' });
  });
});

describe('the AI SDK', () => {
  it('transcribes a file', async () => {
    const provider = createOpenAI({ baseURL: platform.apiUrl, apiKey: account.apiKey });
    const { text, segments, language, durationInSeconds } = await transcribe({
      model: provider.transcription('whisper-1'),
      audio: silentWav(),
    });
    expect(text).toMatch(/\.$/);
    expect([language, durationInSeconds]).toEqual(['en', 1]);
    expect(segments[0]).toMatchObject({ startSecond: 0, endSecond: 1 });
  });
});

describe('curl', () => {
  it.each([
    ['the file first', () => ['-F', `file=@${path}`, '-F', 'model=whisper-1']],
    ['the model first', () => ['-F', 'model=whisper-1', '-F', `file=@${path}`]],
    ['no length', () => ['-H', 'Transfer-Encoding: chunked', '-F', `file=@${path}`, '-F', 'model=whisper-1']],
  ])('transcribes a file, sent with %s', async (_, members) => {
    const { stdout } = await promisify(execFile)('curl', [
      '--silent',
      '--fail',
      '--max-time',
      '60',
      '-H',
      `Authorization: Bearer ${account.apiKey}`,
      ...members(),
      `${platform.apiUrl}/audio/transcriptions`,
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ duration: 1 });
  });
});
