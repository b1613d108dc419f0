import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { AudioPlatform, audioModel } from '../audio-platform.js';
import { OPERATOR_TOKEN } from '../platform.js';
import { isClustered } from '../target.js';

/** What ten seconds leave of 1 USD. */
const LEFT = '0.90';
/** The largest file. */
const FILE_BYTES = 26_214_400;

const FAULTS = ['html', 'cut', '500', '503', '404'] as const;

let audio: AudioPlatform;

beforeAll(async () => {
  audio = await AudioPlatform.start((backend) => [
    audioModel(backend, 'ear'),
    audioModel(backend, 'plain', { settings: [';fault=plain'] }),
    audioModel(backend, 'silence', { settings: [';fault=silence'] }),
    audioModel(backend, 'text-duration', { settings: [';fault=text-duration'] }),
    audioModel(backend, 'short', { settings: [';seconds=6'] }),
    audioModel(backend, 'liar-short', { settings: [';seconds=0.1'] }),
    audioModel(backend, 'liar-long', { settings: [';seconds=9000'] }),
    audioModel(backend, 'brief', { maxSeconds: 9 }),
    audioModel(backend, 'free', { pricing: { perAudioSecond: 0 } }),
    audioModel(backend, 'refuses', { settings: [';fault=400'] }),
    audioModel(backend, 'slow', { settings: [';delay-ms=600000'] }),
    ...FAULTS.map((fault) => audioModel(backend, `fault-${fault}`, { settings: [`;fault=${fault}`] })),
    ...FAULTS.map((fault) => audioModel(backend, `saved-${fault}`, { settings: [`;fault=${fault}`, ''] })),
  ]);
});
afterAll(() => audio.stop());
beforeEach(() => audio.backend.clearLog());

describe('the price of a transcription', () => {
  it.each([
    ['short', '0.94', 'what the backend reports, if that is plausible'],
    ['liar-short', LEFT, 'the measured length, if the backend reports next to nothing'],
    ['text-duration', LEFT, 'a length that is sent as text'],
    ['silence', LEFT, 'audio without speech'],
    ['plain', LEFT, 'a file whose response has no times'],
    ['free', '1.00', 'nothing for a free model'],
  ])('of the model %s leaves %s USD: %s', async (id, left) => {
    const own = await audio.platform.account('1.00');
    const reply = await audio.transcript(audio.formOf({ model: id }), { apiKey: own.apiKey });
    expect(reply.duration).toBe(id === 'short' ? 6 : 10);
    await audio.expectLeft(own, left);
  });

  it('is nothing if the backend finds more audio than was measured', async () => {
    const own = await audio.platform.account('1.00');
    const response = await audio.post(audio.formOf({ model: 'liar-long' }), { apiKey: own.apiKey });
    expect([response.status, (await errorOf(response)).error.param]).toEqual([400, 'file']);
    await audio.expectLeft(own, '1.00');
  });

  it.skipIf(isClustered())('is counted as doubtful if the backend reports another length', async () => {
    const { platform } = audio;
    const labels = 'gen_ai_request_model="liar-short",svc_backend="backend-1",svc_doubt="shorter"';
    const counted = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
      const text = await (await fetch(new URL('/metrics', platform.operatorUrl), { headers })).text();
      const series = `svc_gateway_audio_lengths_doubted_total{${labels}} `;
      const line = text.split('\n').find((each) => each.startsWith(series));
      return Number(line?.slice(series.length) ?? 0);
    };
    const before = await counted();
    await audio.transcript(audio.formOf({ model: 'liar-short' }));
    expect(await counted()).toBe(before + 1);
  });

  it.each(['srt', 'vtt', 'text', 'verbose_json'])('is the same for %s', async (format) => {
    const own = await audio.platform.account('1.00');
    expect((await audio.post(audio.formOf({ response_format: format }), { apiKey: own.apiKey })).status).toBe(
      200,
    );
    await audio.expectLeft(own, LEFT);
  });

  it.each([
    ['a short WAV', 'wav', (file: Buffer) => file.writeUInt32LE(3_200, 40), 3_200 / 48_000],
    ['an endless WAV', 'wav', (file: Buffer) => file.writeUInt32LE(0xffff_ffff, 40), 10],
    ['a short FLAC', 'flac', (file: Buffer) => file.writeUInt32BE(1, 22), 9.984],
    ['an endless FLAC', 'flac', (file: Buffer) => file.writeUInt32BE(0xffff_ffff, 22), 9.984],
  ] as const)('does not believe a head that claims %s', async (...[, format, lie, seconds]) => {
    const file = Buffer.from(audio.files[format]);
    lie(file);
    expect((await audio.transcript(audio.formOf({}, file))).duration).toBeCloseTo(seconds, 3);
  });

  it.each([
    ['a second format', 'wav', (file: Buffer) => Buffer.concat([file.subarray(0, 36), file.subarray(12)])],
    [
      'a wrong checksum',
      'opus',
      (file: Buffer) => file.fill(1, file.lastIndexOf('OggS') + 6, file.lastIndexOf('OggS') + 8),
    ],
  ] as const)(
    'is nothing for a file that decoders read in different ways: %s',
    async (...[, format, change]) => {
      const own = await audio.platform.account('1.00');
      const file = change(Buffer.from(audio.files[format]));
      const response = await audio.post(audio.formOf({}, file), { apiKey: own.apiKey });
      expect([response.status, (await errorOf(response)).error.param]).toEqual([400, 'file']);
      expect(audio.backend.requests()).toEqual([]);
      await audio.expectLeft(own, '1.00');
    },
  );

  it('must be there before the call', async () => {
    const own = await audio.platform.account('0.09');
    const response = await audio.post(audio.formOf({}), { apiKey: own.apiKey });
    expect([response.status, (await errorOf(response)).code]).toEqual([402, 'INSUFFICIENT_BALANCE']);
    expect(audio.backend.requests()).toEqual([]);
  });
});

describe('an invalid request', () => {
  it.each([
    ['no file', () => ({ form: audio.formOf({}, Buffer.alloc(0)) }), 'file'],
    ['text as a file', () => ({ form: audio.formOf({}, Buffer.from('Hello, this is no audio.')) }), 'file'],
    ['a broken file', () => ({ form: audio.formOf({}, audio.files.flac.subarray(0, 20)) }), 'file'],
    ['an unknown format', () => ({ form: audio.formOf({ response_format: 'xml' }) }), 'response_format'],
    [
      'a stream of subtitles',
      () => ({ form: audio.formOf({ stream: 'true', response_format: 'srt' }) }),
      'stream',
    ],
    ['a stream of times', () => ({ form: audio.formOf({ stream: 'true', timestamps: 'true' }) }), 'stream'],
    ['another temperature', () => ({ form: audio.formOf({ temperature: '2' }) }), 'temperature'],
    ['another language', () => ({ form: audio.formOf({ language: 'English' }) }), 'language'],
    [
      'another granularity',
      () => ({ form: audio.formOf({ 'timestamp_granularities[]': 'char' }) }),
      'timestamp_granularities.0',
    ],
    ['a URL', () => ({ form: audio.formOf({ extra: '{"url":"file:///a"}' }) }), 'extra'],
    ['another spelling', () => ({ form: audio.formOf({ Prompt: 'x' }) }), 'Prompt'],
    ['audio that is too long', () => ({ form: audio.formOf({ model: 'brief' }) }), 'file'],
  ])('with %s is refused by name, and free', async (_, given, field) => {
    const own = await audio.platform.account('1.00');
    const response = await audio.post(given().form, { apiKey: own.apiKey });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(field);
    expect(audio.backend.requests()).toEqual([]);
    await audio.expectLeft(own, '1.00');
  });

  it('without a file, a model, or with another file is refused by name', async () => {
    const paramOf = async (form: FormData): Promise<unknown> => {
      const response = await audio.post(form);
      expect(response.status).toBe(400);
      return (await errorOf(response)).error.param;
    };
    const fileless = new FormData();
    fileless.append('model', 'ear');
    expect(await paramOf(fileless)).toBe('file');
    const modelless = audio.formOf({});
    modelless.delete('model');
    expect(await paramOf(modelless)).toBe('model');
    const more = audio.formOf({});
    more.append('other', new Blob(['x']), 'x.wav');
    expect(await paramOf(more)).toBe('other');
    expect(audio.backend.requests()).toEqual([]);
  });

  it('with an unknown model is a 404', async () => {
    const response = await audio.post(audio.formOf({ model: 'none' }));
    expect([response.status, (await errorOf(response)).code]).toEqual([404, 'MODEL_NOT_FOUND']);
  });

  it('may have a file of 25 MiB, and not a byte more', async () => {
    const largest = Buffer.concat([audio.files.wav, Buffer.alloc(FILE_BYTES - audio.files.wav.length)]);
    expect((await audio.post(audio.formOf({ model: 'free' }, largest))).status).toBe(200);
    const response = await audio.post(
      audio.formOf({ model: 'free' }, Buffer.concat([largest, Buffer.alloc(1)])),
    );
    expect([response.status, (await errorOf(response)).code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('without the end of its form is refused, and JSON is a 415', async () => {
    const whole = new Response(audio.formOf({}));
    const type = whole.headers.get('content-type') ?? '';
    const bytes = Buffer.from(await whole.arrayBuffer());
    const cut = await audio.post(bytes.subarray(0, -10), { headers: { 'content-type': type } });
    expect([cut.status, (await errorOf(cut)).code]).toEqual([400, 'INVALID_REQUEST']);
    const json = await audio.post('{}', { headers: { 'content-type': 'application/json' } });
    expect([json.status, (await errorOf(json)).code]).toEqual([415, 'INVALID_CONTENT_TYPE']);
  });
});

describe('a backend that fails', () => {
  it.each(FAULTS)('with %s costs nothing', async (fault) => {
    const own = await audio.platform.account('1.00');
    const response = await audio.post(audio.formOf({ model: `fault-${fault}` }), { apiKey: own.apiKey });
    expect(response.status).toBeGreaterThanOrEqual(500);
    await audio.expectLeft(own, '1.00');
  });

  it.each(FAULTS)('with %s is replaced by the next, which is charged once', async (fault) => {
    const own = await audio.platform.account('1.00');
    const response = await audio.post(audio.formOf({ model: `saved-${fault}` }), { apiKey: own.apiKey });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-svc-model-router')).toBe('backend-2');
    await audio.expectLeft(own, LEFT);
  });

  it('by a refusal is a 400, and free', async () => {
    const own = await audio.platform.account('1.00');
    expect((await audio.post(audio.formOf({ model: 'refuses' }), { apiKey: own.apiKey })).status).toBe(400);
    await audio.expectLeft(own, '1.00');
  });

  it('is no longer called once the client has left, who pays nothing', async () => {
    const own = await audio.platform.account('1.00');
    const abort = new AbortController();
    const leaving = audio.post(audio.formOf({ model: 'slow' }), { apiKey: own.apiKey, signal: abort.signal });
    await eventually('it is called', () => audio.backend.requests().length === 1);
    abort.abort();
    await expect(leaving).rejects.toThrow(/abort/);
    await eventually('it is cancelled', () => audio.backend.cancellations().length === 1);
    await audio.expectLeft(own, '1.00');
  });
});
