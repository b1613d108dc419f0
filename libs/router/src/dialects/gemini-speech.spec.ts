import { BackendError, readError } from '@svc/backend-calls';
import { Backend } from '@svc/contracts/catalog';
import type { SpokenText } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { SpeechEvents } from '../gemini/speech.js';
import { gemini, vertex } from './gemini.js';

const TEXT: SpokenText = { input: 'Hello.', voice: 'Kore', format: 'pcm', isStreamed: false, others: {} };
const BACKEND = Backend.parse({ kind: 'gemini', url: 'http://127.0.0.1', model: 'gemini-3.1-flash-tts' });
const requestOf = (more: Partial<SpokenText> = {}) => gemini.speech?.request(BACKEND, { ...TEXT, ...more });
const bodyOf = (more: Partial<SpokenText> = {}): unknown =>
  JSON.parse(Buffer.concat(requestOf(more)?.body ?? []).toString());

function caught(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('a text to be spoken by Gemini', () => {
  it('is the prompt of a stream, on Vertex AI as well', () => {
    expect(vertex.speech).toBe(gemini.speech);
    expect(requestOf()?.path).toBe('/models/gemini-3.1-flash-tts:streamGenerateContent?alt=sse');
    expect(bodyOf()).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hello.' }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    });
  });

  it('has what says how to speak before it, and further members, none of which replaces ours', () => {
    const others = { responseModalities: ['TEXT'], seed: 3 };
    const more = { instructions: 'Say cheerfully', language: 'en-US', temperature: 0.5, topP: 0.9, others };
    expect(bodyOf({ ...more, speed: 1 })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Say cheerfully: Hello.' }] }],
      generationConfig: {
        seed: 3,
        responseModalities: ['AUDIO'],
        speechConfig: {
          languageCode: 'en-US',
          voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } },
        },
        temperature: 0.5,
        topP: 0.9,
      },
    });
  });

  it.each<[Partial<SpokenText>, RegExp]>([
    [{ format: 'mp3' }, /pcm only/],
    [{ speed: 2 }, /no speeds/],
  ])('is refused with what the API has not: %j', (more, message) => {
    const refused = caught(() => requestOf(more));
    expect(refused).toMatchObject({ status: 400 });
    expect(readError((refused as BackendError).body).message).toMatch(message);
  });
});

const SAMPLES = Buffer.from('00010002fffe80007fff', 'hex');
const event = (body: object): string => `data: ${JSON.stringify(body)}\r\n\r\n`;
const spoken = (samples: Buffer, more: object = {}, mimeType = 'audio/L16;codec=pcm;rate=24000') =>
  event({
    candidates: [
      { content: { parts: [{ inlineData: { mimeType, data: samples.toString('base64') } }] }, ...more },
    ],
  });
const ended = (finishReason: string): string => event({ candidates: [{ content: {}, finishReason }] });

function read(...texts: readonly string[]): Buffer {
  const events = new SpeechEvents();
  const made = texts.flatMap((text) => events.read([Buffer.from(text)]));
  events.end();
  return Buffer.concat(made);
}

describe('the speech of Gemini', () => {
  it('is the samples of all events, wherever their bytes are split', () => {
    const other = spoken(SAMPLES.subarray(4), { finishReason: 'STOP' }, 'audio/l16; rate=24000; channels=1');
    const all = spoken(SAMPLES.subarray(0, 4)) + other;
    for (let at = 0; at <= all.length; at += 1)
      expect(read(all.slice(0, at), all.slice(at))).toEqual(SAMPLES);
    expect(read(...all)).toEqual(SAMPLES);
    expect(read(spoken(SAMPLES), ended('STOP'))).toEqual(SAMPLES);
  });

  it.each([
    [[spoken(SAMPLES)], /ended before/],
    [[spoken(SAMPLES), ended('STOP').slice(0, -5)], /ended before/],
    [[spoken(SAMPLES), ended('OTHER')], /cut the speech/],
    [[spoken(SAMPLES), ended('MAX_TOKENS')], /cut the speech/],
    [[spoken(SAMPLES), ended('SAFETY')], /within the speech/],
    [[spoken(SAMPLES), event({ error: { code: 503 } })], /within the speech/],
    [[spoken(SAMPLES, {}, 'audio/mpeg')], /something else/],
    [['data: {"candidates":5}\n\n'], /unknown form/],
    [['data: <html>\n\n'], /unknown form/],
  ])('fails if it is not whole: %j', (texts, message) => {
    const failure = caught(() => read(...texts)) as Error;
    expect(failure).toMatchObject({ code: 'INFERENCE_FAILED' });
    expect((failure.cause as Error).message).toMatch(message);
  });

  it.each([ended('SAFETY'), event({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })])(
    'is refused for its content before the first samples: %s',
    (text) => {
      const refused = caught(() => read(text)) as BackendError;
      expect(refused).toMatchObject({ status: 400 });
      expect(readError(refused.body).isPolicy).toBe(true);
    },
  );

  it('may be an error', () => {
    expect(caught(() => read(event({ error: { code: 429, message: 'No.' } })))).toMatchObject({
      status: 429,
    });
  });

  it('has no event without end', () => {
    const events = new SpeechEvents();
    const part = Buffer.alloc(16 * 1024 * 1024, 'a');
    expect(events.read([part, part])).toEqual([]);
    expect(caught(() => events.read([Buffer.from('a')]))).toMatchObject({ code: 'INFERENCE_FAILED' });
  });
});
