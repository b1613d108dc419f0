import type { IncomingHttpHeaders } from 'node:http';
import type {
  AudioToTranscribe,
  CallFile,
  Served,
  Transcript,
  TranscriptionCall,
} from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { type Reply, replying, silent } from './backend.js';
import { RouterFixture, type StartRouter } from './router-fixture.js';
import { eventually } from './routing.js';

const AUDIO: AudioToTranscribe = { timestamps: [], others: {} };
const WAV: CallFile = { name: 'audio.wav', type: 'audio/wav', bytes: Buffer.from('RIFF\r\n--x') };
const PLAIN = { text: 'Hello.' };

/** The members of a form: its texts, and its files with a name and type. */
function membersOf({ headers, body }: { headers: IncomingHttpHeaders; body: string }): unknown {
  const [, boundary = '?'] =
    /^multipart\/form-data; boundary=(\S+)$/.exec(headers['content-type'] ?? '') ?? [];
  const [before, ...parts] = `\r\n${body}`.split(`\r\n--${boundary}`);
  expect([before, parts.pop()]).toEqual(['', '--\r\n']);
  return parts.map((part) => {
    const pattern =
      /^\r\ncontent-disposition: form-data; name="([^"]*)"(?:; filename="(.*)"\r\ncontent-type: (.*))?\r\n\r\n/;
    const [head = '', name, file, type] = pattern.exec(part) ?? [];
    const text = part.slice(head.length);
    return [name, file === undefined ? text : { name: file, type, text }];
  });
}

/** The guarantees of every implementation of the port `InferenceRouter` for transcriptions. */
export function transcriptionConformance(name: string, start: StartRouter): void {
  const fixture = new RouterFixture(start);

  const call = async (
    more: Partial<AudioToTranscribe> = {},
    {
      kind = 'transcription',
      file = WAV,
      signal = new AbortController().signal,
    }: { kind?: TranscriptionCall['kind']; file?: CallFile; signal?: AbortSignal } = {},
  ): Promise<Served<Transcript>> => {
    const origin = { requestId: 'r', accountId: 'a', model: 'm' };
    return fixture.router.transcriptions.transcribe(
      { ...origin, kind, audio: { ...AUDIO, ...more }, file },
      signal,
    );
  };
  const transcribe = async (...args: Parameters<typeof call>): Promise<Transcript> =>
    (await call(...args)).result;

  describe(`transcriptions of ${name}`, () => {
    it('send the file and the fields as a form, to the path of their kind', async () => {
      const [backend] = await fixture.given(replying(PLAIN));
      const others = { hotwords: ['a', 'b'], seed: '3', stream: 'true', model: 'other' };
      await call({ language: 'en', prompt: 'p\r\n', temperature: 0.2, timestamps: ['word'], others });
      await call({}, { kind: 'translation' });
      expect(backend?.requests.map(({ url }) => url)).toEqual([
        '/v1/audio/transcriptions',
        '/v1/audio/translations',
      ]);
      const [first] = backend?.requests ?? [];
      expect(membersOf(first ?? { headers: {}, body: '' })).toEqual([
        ['hotwords', 'a'],
        ['hotwords', 'b'],
        ['seed', '3'],
        ['model', expect.any(String)],
        ['response_format', 'verbose_json'],
        ['language', 'en'],
        ['prompt', 'p\r\n'],
        ['temperature', '0.2'],
        ['timestamp_granularities[]', 'word'],
        ['file', { name: 'audio.wav', type: 'audio/wav', text: 'RIFF\r\n--x' }],
      ]);
    });

    it.each([
      [
        'OpenAI and speaches',
        {
          ...PLAIN,
          language: 'english',
          duration: 1.5,
          segments: [{ id: 0, start: 0, end: 1.5, text: 'Hello.', tokens: [1], no_speech_prob: 0.1 }],
          words: [{ word: 'Hello.', start: 0, end: 1.5 }],
        },
      ],
      [
        'vLLM, whose duration is a text',
        {
          ...PLAIN,
          language: 'english',
          duration: '1.5',
          segments: [{ start: 0, end: '1.5', text: 'Hello.', no_speech_prob: 0.1 }],
          words: [{ word: 'Hello.', start: 0, end: 1.5 }],
        },
      ],
      [
        'whisper.cpp, whose segments have the words',
        {
          ...PLAIN,
          language: 'english',
          duration: 1.5,
          segments: [
            {
              start: 0,
              end: 1.5,
              text: 'Hello.',
              no_speech_prob: 0.1,
              words: [{ word: 'Hello.', start: 0, end: 1.5, probability: 1 }],
            },
          ],
        },
      ],
    ])('read the response of %s', async (_server, response) => {
      await fixture.given(replying(response));
      expect(await transcribe()).toEqual({
        text: 'Hello.',
        language: 'english',
        seconds: 1.5,
        segments: [{ start: 0, end: 1.5, text: 'Hello.', no_speech_prob: 0.1 }],
        words: [{ word: 'Hello.', start: 0, end: 1.5 }],
      });
    });

    it.each([
      [{ ...PLAIN, usage: { type: 'duration', seconds: 2 } }, 2],
      [{ ...PLAIN, duration: 'long', usage: { seconds: 3 } }, 3],
      [{ ...PLAIN, duration: -1 }, undefined],
      [PLAIN, undefined],
    ])('read a response without segments: %j', async (response, seconds) => {
      await fixture.given(replying(response));
      expect(await transcribe()).toEqual({
        text: 'Hello.',
        segments: [],
        words: [],
        ...(seconds !== undefined && { seconds }),
      });
    });

    it('request the plain response from a server that refuses the verbose one', async () => {
      const message = 'Currently only support response_format `text` or `json`';
      const [backend] = await fixture.given((response, request) =>
        request.body.includes('verbose_json')
          ? replying({ error: { message, type: 'BadRequestError', code: 400 } }, 400)(response, request)
          : replying(PLAIN)(response, request),
      );
      expect(await transcribe({ timestamps: ['word'] })).toMatchObject(PLAIN);
      expect(backend?.requests).toHaveLength(2);
      expect(backend?.requests[1]?.body).not.toContain('granularities');
    });

    it.each([
      ['no transcript', replying({ error: { message: 'no' } }), 'INFERENCE_FAILED'],
      ['a page', (response) => void response.end('<html>'), 'INFERENCE_FAILED'],
      [
        'negative times',
        replying({ ...PLAIN, segments: [{ start: -1, end: 1, text: 'x' }] }),
        'INFERENCE_FAILED',
      ],
      ['a refusal', replying({ detail: 'Invalid file' }, 422), 'INVALID_REQUEST'],
      ['a refusal of its size', replying({ detail: 'Too large' }, 413), 'PAYLOAD_TOO_LARGE'],
    ] satisfies readonly (readonly [string, Reply, string])[])(
      'fail if the response is %s',
      async (_what, reply, code) => {
        await fixture.given(reply);
        await expect(call()).rejects.toMatchObject({ code });
      },
    );

    it('go to another backend with the same file', async () => {
      const [, second] = await fixture.given(replying({ error: 'busy' }, 503), replying(PLAIN));
      for (let time = 0; time < 5; time += 1) expect(await transcribe()).toMatchObject(PLAIN);
      for (const { body } of second?.requests ?? []) expect(body).toContain('RIFF\r\n--x');
    });

    it('end at the backend when their caller leaves', async () => {
      const [backend] = await fixture.given(silent);
      const leaving = new AbortController();
      const outcome = call({}, { signal: leaving.signal }).catch((error: unknown) => error);
      await eventually('the call arrives', () => backend?.requests.length === 1);
      leaving.abort();
      expect(await outcome).toBeInstanceOf(Error);
      await eventually('the call is cut', () => backend?.cut === 1);
    });

    it('are translated for whisper.cpp, which reads WAV only', async () => {
      const backend = await fixture.givenOne(replying(PLAIN), { kind: 'whisper-cpp' });
      await call({ timestamps: ['word'] }, { kind: 'translation' });
      expect(backend.requests[0]?.url).toBe('/v1/inference');
      expect(membersOf(backend.requests[0] ?? { headers: {}, body: '' })).toEqual([
        ['response_format', 'verbose_json'],
        ['file', { name: 'audio.wav', type: 'audio/wav', text: 'RIFF\r\n--x' }],
        ['translate', 'true'],
      ]);
      const file = { ...WAV, type: 'audio/mpeg' };
      await expect(call({}, { file })).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'file' });
    });

    it('return the text without the space before it, and the segments of whisper.cpp as one line', async () => {
      const verbose = { text: ' Hello.\n And more.\n', segments: [{ start: 0, end: 1, text: ' Hello.' }] };
      await fixture.givenOne(replying(verbose), { kind: 'whisper-cpp' });
      expect(await transcribe()).toMatchObject({ text: 'Hello. And more.', segments: [{ text: ' Hello.' }] });
      await fixture.stop();
      await fixture.givenOne(replying({ text: ' Hello.\nAnd more.' }), {});
      expect(await transcribe()).toMatchObject({ text: 'Hello.\nAnd more.' });
    });

    it('go to a whisper.cpp that converts', async () => {
      await fixture.givenOne(replying(PLAIN), { kind: 'whisper-cpp', audioFormats: ['wav', 'mp3'] });
      expect(await transcribe({}, { file: { ...WAV, type: 'audio/mpeg' } })).toMatchObject(PLAIN);
    });
  });
}
