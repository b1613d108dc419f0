import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { AUDIO_PRICE, AudioPlatform, audioModel } from '../audio-platform.js';
import { evmWallet, signedInAt } from '../wallets.js';

/** What ten seconds leave of 1 USD. */
const LEFT = '0.90';

const NEW_LINE = Buffer.from('\r\n');

/** A body without a length, in pieces that end at these offsets. */
function pieces(bytes: Buffer, cuts: readonly number[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const ends = [...new Set([...cuts, bytes.length])].toSorted((a, b) => a - b);
  return ReadableStream.from(
    ends.map((end, index) => new Uint8Array(bytes.subarray(ends[index - 1] ?? 0, end))),
  );
}

let audio: AudioPlatform;

beforeAll(async () => {
  audio = await AudioPlatform.start((backend) => [
    audioModel(backend, 'ear', { aliases: ['whisper-1'] }),
    audioModel(backend, 'cpp', { backends: [{ kind: 'whisper-cpp', url: backend.url, model: 'any' }] }),
    audioModel(backend, 'plain', { settings: [';fault=plain'] }),
    audioModel(backend, 'timeless', { settings: [';fault=no-times'] }),
  ]);
});
afterAll(() => audio.stop());
beforeEach(() => audio.backend.clearLog());

describe('POST /audio/transcriptions', () => {
  it('returns the transcript, and charges the length of the audio', async () => {
    const own = await audio.platform.account('1.00');
    const response = await audio.post(audio.formOf({}), { apiKey: own.apiKey });
    expect(response.status).toBe(200);
    const body = (await response.json()) as { text: string };
    expect(body.text).toMatch(/^[A-Z].*\.$/);
    expect(body).toEqual({ text: body.text, duration: 10, usage: { type: 'duration', seconds: 10 } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-model-id': 'ear',
      'x-svc-model-router': 'backend-1',
      'x-svc-balance-usd': '1.00',
    });
    await audio.expectLeft(own, LEFT);
    expect(await audio.platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it.each([
    ['mp3', 10.008],
    ['opus', 10],
    ['aac', 10.006],
    ['flac', 9.984],
    ['wav', 10],
  ] as const)('measures %s by its frames', async (format, seconds) => {
    expect((await audio.transcript(audio.formOf({}, audio.files[format]))).duration).toBeCloseTo(seconds, 1);
    const type =
      { opus: 'audio/ogg', mp3: 'audio/mpeg', aac: 'audio/mp4' }[format as string] ?? `audio/${format}`;
    expect(audio.received()).toContainEqual(['file', { type, bytes: expect.any(Number) as unknown }]);
  });

  it('adds a billing row in seconds, without tokens', async () => {
    const own = await audio.platform.account('1.00');
    const admin = await audio.platform.operator('POST', `/accounts/${own.id}/api_keys`, {
      apiKeyType: 'ADMIN',
      description: '',
    });
    await audio.transcript(audio.formOf({}), { apiKey: own.apiKey });
    const rows = async (): Promise<Record<string, unknown>[]> => {
      const response = await fetch(`${audio.platform.apiUrl}/billing/usage`, {
        headers: { authorization: `Bearer ${String(admin.body['apiKey'])}` },
      });
      return ((await response.json()) as { data: Record<string, unknown>[] }).data;
    };
    await eventually('it is there', async () => (await rows()).length === 1);
    expect(await rows()).toMatchObject([
      {
        sku: 'ear-asr-second',
        units: 10,
        pricePerUnitUsd: AUDIO_PRICE,
        amount: -0.1,
        inferenceDetails: { promptTokens: null, completionTokens: null },
      },
    ]);
  });

  it('offers texts and subtitles of the same transcript', async () => {
    const { text } = await audio.transcript(audio.formOf({}));
    const inFormat = async (format: string): Promise<string> => {
      const response = await audio.post(audio.formOf({ response_format: format }));
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      return response.text();
    };
    expect(await inFormat('text')).toBe(text);
    const srt = await inFormat('srt');
    expect(srt).toMatch(/^1\n00:00:00,000 --> 00:00:05,000\n.+\n\n2\n00:00:05,000 --> 00:00:10,000\n.+\n$/);
    expect(
      srt
        .split('\n')
        .filter((line) => /^[A-Za-z]/.test(line))
        .join(' '),
    ).toBe(text);
    expect(await inFormat('vtt')).toBe(
      `WEBVTT\n\n${srt.replaceAll(/^\d\n/gm, '').replaceAll(/,(?=\d{3}\b)/g, '.')}`,
    );
  });

  it('offers the same transcript as events, which a repetition gets again', async () => {
    const own = await audio.platform.account('1.00');
    const { text } = await audio.transcript(audio.formOf({}));
    const init = { apiKey: own.apiKey, headers: { 'idempotency-key': 'events' } };
    const response = await audio.post(audio.formOf({ stream: 'true' }), init);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = await response.text();
    const done = { type: 'transcript.text.done', text, usage: { type: 'duration', seconds: 10 } };
    expect(events.split('\n\n')).toEqual([
      `data: ${JSON.stringify({ type: 'transcript.text.delta', delta: text })}`,
      `data: ${JSON.stringify(done)}`,
      'data: [DONE]',
      '',
    ]);
    const again = await audio.post(audio.formOf({ stream: 'true' }), init);
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', events]);
    expect(again.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await audio.expectLeft(own, LEFT);
  });

  it('offers verbose JSON with the requested times', async () => {
    const verbose = { response_format: 'verbose_json' };
    const segments = await audio.transcript(audio.formOf(verbose));
    expect(segments).toMatchObject({
      task: 'transcribe',
      language: 'english',
      duration: 10,
      segments: [
        { id: 0, start: 0, end: 5, seek: 0, tokens: [], temperature: 0 },
        { id: 1, start: 5, end: 10 },
      ],
    });
    expect(segments).not.toHaveProperty('words');
    const words = await audio.transcript(
      audio.formOf({ ...verbose, 'timestamp_granularities[]': ['word', 'segment'] }),
    );
    expect(words).toMatchObject({ segments: [{}, {}] });
    expect(words).toHaveProperty('words.0', {
      word: expect.any(String) as unknown,
      start: 0,
      end: expect.any(Number) as unknown,
    });
    const { timestamps } = await audio.transcript(audio.formOf({ timestamps: 'true' }));
    expect(timestamps?.segment).toHaveLength(2);
    expect(timestamps?.word.length).toBeGreaterThan(2);
  });

  it('passes its members to the backend, without the name of the file', async () => {
    await audio.transcript(
      audio.formOf({
        language: 'de',
        prompt: 'Ada',
        temperature: '0.2',
        hotwords: ['a', 'b'],
        max_completion_tokens: '9',
        chunking_strategy: 'auto',
      }),
    );
    expect(audio.received().toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
      // Samples of 16 bits are sent with 24.
      ['file', { type: 'audio/wav', bytes: 4_096 + (audio.files.wav.length - 44) * 1.5 }],
      ['hotwords', 'a'],
      ['hotwords', 'b'],
      ['language', 'de'],
      ['model', 'ear'],
      ['prompt', 'Ada'],
      ['response_format', 'verbose_json'],
      ['temperature', '0.2'],
      ['timestamp_granularities[]', 'segment'],
    ]);
  });

  it('reads the same form in any order of its parts, however it is split on the way', async () => {
    const texts = { model: 'ear', language: 'de', prompt: 'Ada\r\n--b', hotwords: 'a' };
    const parts = [
      ...Object.entries(texts).map(([name, value]) => [Buffer.from(`name="${name}"\r\n\r\n${value}`)]),
      [Buffer.from('name="file"; filename="f.wav"\r\n\r\n'), audio.files.wav],
    ];
    const sorted = (members: [string, unknown][]) => members.toSorted(([a], [b]) => a.localeCompare(b));
    const reference = await audio.transcript(audio.formOf({ ...texts }));
    const received = sorted(audio.received());
    const order = fc.shuffledSubarray(parts, { minLength: parts.length });
    const cuts = fc.array(fc.oneof(fc.nat(400), fc.nat(audio.files.wav.length)), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(order, cuts, async (ordered, at) => {
        const part = (content: Buffer[]): Buffer =>
          Buffer.concat([Buffer.from('--b-1\r\nContent-Disposition: form-data; '), ...content, NEW_LINE]);
        const form = Buffer.concat([...ordered.map(part), Buffer.from('--b-1--\r\n')]);
        const body = pieces(form, at);
        const headers = { 'content-type': 'multipart/form-data; boundary=b-1' };
        const response = await audio.post(body, { headers, duplex: 'half' });
        expect(await response.json()).toEqual(reference);
        expect(sorted(audio.received())).toEqual(received);
      }),
      { numRuns: 15 },
    );
  });

  it('uses the server of whisper.cpp', async () => {
    const verbose = { model: 'cpp', response_format: 'verbose_json', 'timestamp_granularities[]': 'word' };
    expect(await audio.transcript(audio.formOf(verbose))).toMatchObject({ task: 'transcribe', duration: 10 });
    const response = await audio.post(audio.formOf({ model: 'cpp' }, audio.files.mp3));
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe('file');
  });

  it('makes every format from a server that has only plain JSON', async () => {
    for (const name of ['plain', 'timeless']) {
      const response = await audio.post(audio.formOf({ model: name, response_format: 'srt' }));
      expect(await response.text()).toMatch(/^1\n00:00:00,000 --> 00:00:10,000\n.+\n$/);
    }
  });

  it('serves a wallet', async () => {
    const wallet = evmWallet();
    const { body } = await audio.platform.operator('POST', '/accounts', {
      name: 'w',
      wallet: wallet.address,
    });
    await audio.platform.operator('POST', `/accounts/${String(body['id'])}/credits`, {
      usd: '1.00',
      reference: 'i',
    });
    const response = await fetch(`${audio.platform.apiUrl}/audio/transcriptions`, {
      method: 'POST',
      headers: await signedInAt(audio.platform.rootUrl, wallet),
      body: audio.formOf({}),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-balance-remaining')).toBe(LEFT);
  });
});

describe('POST /audio/translations', () => {
  it('returns English text at the same price', async () => {
    const own = await audio.platform.account('1.00');
    const init = { apiKey: own.apiKey, path: 'translations' };
    const reply = await audio.transcript(audio.formOf({ response_format: 'verbose_json' }), init);
    expect(reply).toMatchObject({
      task: 'translate',
      text: expect.stringMatching(/^Translated: /) as unknown,
    });
    await audio.expectLeft(own, LEFT);
  });

  it('tells whisper.cpp to translate', async () => {
    const reply = await audio.transcript(audio.formOf({ model: 'cpp' }), { path: 'translations' });
    expect(reply.text).toMatch(/^Translated: /);
  });
});
