import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUDIO_PRICE, AudioPlatform } from '../audio-platform.js';
import { type StartedProgram, openWhisperServer } from '../clients/environments.js';
import { errorOf, eventually } from '../response-bodies.js';
import { writeTinyWhisper } from './tiny-whisper.js';

const WORDS = ['Quokkas', 'eat', 'grass.'];
/** The model returns the words once per half minute of audio, for its first two seconds. */
const HEARD = WORDS.join(' ');
/** The price of a file, which has ten seconds. */
const COSTS = 10 * AUDIO_PRICE;
const START_MS = 120_000;

const whisper = await openWhisperServer();

describe.skipIf(!whisper)('the server of whisper.cpp', () => {
  let folder: string;
  let server: StartedProgram;
  let audio: AudioPlatform;
  /** The number of files that were charged. */
  let charged = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-whisper-'));
    const model = join(folder, 'tiny.bin');
    await writeTinyWhisper(model, WORDS, 2);
    const port = await freePort();
    const args = ['--model', model, '--port', `${port}`, '--threads', '1'];
    // What it prints on listening stays in its buffer, since its output is a pipe.
    const ready = /compute buffer \(decode\)/;
    server = await whisper!.start('whisper-server', args, { ready, deadlineMs: START_MS });
    await eventually('the server responds', () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    audio = await AudioPlatform.start(() => [
      {
        id: 'ear',
        name: 'Ear',
        type: 'asr',
        tier: 'XS',
        pricing: { perAudioSecond: AUDIO_PRICE },
        backends: [{ kind: 'whisper-cpp', url: `http://127.0.0.1:${port}`, model: 'tiny', maxInFlight: 1 }],
      },
    ]);
  }, 2 * START_MS);
  afterAll(async () => {
    await audio?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function text(format: string): Promise<string> {
    const response = await audio.post(audio.formOf({ response_format: format }));
    expect(response.status).toBe(200);
    charged += 1;
    return response.text();
  }

  it('returns text as JSON, plain or as subtitles', async () => {
    expect(JSON.parse(await text('json'))).toMatchObject({ text: HEARD });
    expect((await text('text')).trim()).toBe(HEARD);
    const srt = await text('srt');
    expect(srt).toMatch(/^1\n00:00:00,000 --> 00:00:02,000\nQuokkas eat grass\./);
    expect(await text('vtt')).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:02\.000\n/);
  });

  it('returns the segments, and the words with their times', async () => {
    const form = audio.formOf({
      response_format: 'verbose_json',
      'timestamp_granularities[]': ['word', 'segment'],
    });
    const response = await audio.post(form);
    charged += 1;
    const reply = (await response.json()) as {
      readonly segments: readonly object[];
      readonly words: readonly { readonly word: string; readonly start: number; readonly end: number }[];
    };
    expect(reply).toMatchObject({ text: HEARD, duration: 10, language: 'english' });
    expect(reply.segments).toMatchObject([{ start: 0, end: 2, text: expect.stringContaining(HEARD) }]);
    expect(reply.words.map(({ word }) => word.trim()).join(' ')).toBe(HEARD);
    for (const { start, end } of reply.words) expect(start).toBeLessThanOrEqual(end);
  });

  it('translates', async () => {
    const response = await audio.post(audio.formOf({}), { path: 'translations' });
    expect(await response.json()).toMatchObject({ text: HEARD });
    charged += 1;
  });

  it('serves several requests after each other, though it takes one at a time', async () => {
    const replies = await Promise.all(Array.from({ length: 3 }, () => audio.post(audio.formOf({}))));
    const served = replies.filter(({ status }) => status === 200);
    charged += served.length;
    expect(served.length).toBeGreaterThan(0);
    for (const { status } of replies) expect([200, 429, 503]).toContain(status);
  });

  it('gets no file that it cannot read', async () => {
    const response = await audio.post(audio.formOf({}, audio.files.mp3));
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.message).toMatch(/does not read audio\/mpeg/);
  });

  it('is charged by the seconds of the file', async () => {
    expect(charged).toBeGreaterThan(6);
    await audio.expectLeft(audio.account, (100 - charged * COSTS).toFixed(2));
  });
});
