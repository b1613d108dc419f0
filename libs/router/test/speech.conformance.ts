import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChunkStream, SpokenText } from '@svc/contracts/inference';
import { SPEECH_FORMATS, SPEECH_MEDIA_TYPES, type SpeechFormat } from '@svc/contracts/catalog';
import { describe, expect, it } from 'vitest';
import { type Reply, replying } from './backend.js';
import { RouterFixture, type StartRouter } from './router-fixture.js';
import { eventually } from './routing.js';

const TEXT: SpokenText = { input: 'Hello.', voice: 'v', format: 'mp3', isStreamed: false, others: {} };

/** The first bytes of a file in each format. */
const HEADS: Readonly<Record<SpeechFormat, Buffer>> = {
  mp3: Buffer.from('fffb14c0', 'hex'),
  opus: Buffer.from(`OggS${'\0'.repeat(24)}OpusHead`),
  aac: Buffer.from('fff150', 'hex'),
  flac: Buffer.from('fLaC'),
  wav: Buffer.from('RIFF\0\0\0\0WAVEfmt '),
  pcm: Buffer.alloc(4),
};

const fileOf = (format: SpeechFormat): Buffer => Buffer.concat([HEADS[format], Buffer.alloc(1_000)]);

/** Responds with these bytes, as the server would label them. */
function sending(bytes: Uint8Array | string, type = 'audio/mpeg'): Reply {
  return (response) => void response.writeHead(200, { 'content-type': type }).end(bytes);
}

async function bytesOf({ bytes }: ChunkStream): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const arrived of bytes) parts.push(...arrived);
  return Buffer.concat(parts);
}

/** The guarantees of every implementation of the port `Speech`. */
export function speechConformance(name: string, start: StartRouter): void {
  const fixture = new RouterFixture(start);

  const speak = (more: Partial<SpokenText> = {}, signal = new AbortController().signal) => {
    const call = { requestId: 'r', accountId: 'a', model: 'm', text: { ...TEXT, ...more } };
    return fixture.router.speech.speak(call, signal);
  };

  describe(`speech of ${name}`, () => {
    it.each(SPEECH_FORMATS)('is the file of the backend, with its media type: %s', async (format) => {
      await fixture.given(sending(fileOf(format), 'application/octet-stream'));
      const stream = await speak({ format });
      expect(stream).toMatchObject({ backend: 'backend-1', contentType: SPEECH_MEDIA_TYPES[format] });
      expect(await bytesOf(stream)).toEqual(fileOf(format));
    });

    it("requests speech under the backend's own names, which a client's fields cannot replace", async () => {
      const [backend] = await fixture.given(sending(fileOf('wav')));
      const others = { model: 'x', input: 'y', response_format: 'z', seed: 3, ref_text: 'a' };
      await bytesOf(await speak({ format: 'wav', speed: 2, instructions: 'slowly', topP: 0.5, others }));
      expect(backend?.requests[0]?.url).toBe('/v1/audio/speech');
      expect(JSON.parse(backend?.requests[0]?.body ?? '')).toEqual({
        model: 'backend-0',
        input: 'Hello.',
        voice: 'v',
        response_format: 'wav',
        speed: 2,
        instructions: 'slowly',
        top_p: 0.5,
        seed: 3,
      });
    });

    it.each<[object, Partial<SpokenText>, object]>([
      [{ kind: 'kokoro' }, { isStreamed: false, language: 'en' }, { stream: false, lang_code: 'en' }],
      [{ kind: 'kokoro' }, { isStreamed: true }, { stream: true }],
      [{ streamFormats: ['wav'] }, { isStreamed: true, format: 'wav' }, { stream: true }],
      [{ streamFormats: ['wav'] }, { isStreamed: true }, {}],
      [{ streamFormats: ['wav'] }, { format: 'wav' }, {}],
    ])('is requested as its server needs it: %j %j', async (entry, text, members) => {
      const backend = await fixture.givenOne(sending(fileOf(text.format ?? 'mp3')), { ...entry });
      await bytesOf(await speak(text));
      const { stream, lang_code: language } = JSON.parse(backend.requests[0]?.body ?? '') as Record<
        string,
        unknown
      >;
      expect(JSON.parse(JSON.stringify({ stream, lang_code: language }))).toEqual(members);
    });

    it('is not requested of a backend that has no speech', async () => {
      const backend = await fixture.givenOne(replying({ choices: [{}] }), { kind: 'kokoro' });
      const call = { requestId: 'r', accountId: 'a', model: 'm', body: [Buffer.from('{"n":1}')] };
      const chat = fixture.router.complete(call, new AbortController().signal);
      await expect(chat).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
      expect(backend.requests).toEqual([]);
    });

    it.each<[string, Reply]>([
      ['a page', sending('<!doctype html><title>Bad gateway</title>', 'text/html')],
      ['a page that is labelled as audio', sending('<!doctype html><title>Bad gateway</title>')],
      ['an error', replying({ error: { message: 'out of memory' } })],
      ['an error that is labelled as audio', sending('{"error":"out of memory"}')],
      ['a file in another format', sending(fileOf('wav'))],
      ['nothing', sending('')],
      ['a part of a frame', sending(Buffer.from('ff', 'hex'))],
      ['an error status', replying({}, 500)],
      ['the end of the connection', (response) => void response.writeHead(200).destroy()],
    ])('comes from the next backend after %s', async (_, reply) => {
      await fixture.given(reply, sending(fileOf('mp3')));
      const stream = await speak();
      expect(stream).toMatchObject({ backend: 'backend-2', retries: 1 });
      expect(await bytesOf(stream)).toEqual(fileOf('mp3'));
    });

    it.each([
      ['a page', '<!doctype html><title>Bad gateway</title>'],
      ['an error', '{"error":"x"}'],
      ['a file in another format', fileOf('wav')],
    ])('is not %s, even in a format without a signature', async (_, bytes) => {
      await fixture.given(sending(bytes));
      await expect(speak({ format: 'pcm' })).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    });

    it('is rejected with the reason of the backend', async () => {
      const detail = {
        error: 'validation_error',
        message: "Voice 'x' not found",
        type: 'invalid_request_error',
      };
      await fixture.given(replying({ detail }, 400));
      const message = "The model rejected the request: Voice 'x' not found";
      await expect(speak()).rejects.toMatchObject({ code: 'INVALID_REQUEST', message });
    });

    it("is a fault of the catalogue if the backend doesn't have the model", async () => {
      const detail = {
        error: 'invalid_model',
        message: 'Unsupported model: x',
        type: 'invalid_request_error',
      };
      await fixture.given(replying({ detail }, 400), sending(fileOf('mp3')));
      expect(await speak()).toMatchObject({ retries: 1 });
    });

    it('begins with the first bytes, and fails when the connection breaks', async () => {
      await fixture.given((response) => {
        response.write(fileOf('mp3'));
        setTimeout(() => response.destroy(), 50);
      });
      const pieces = (await speak()).bytes[Symbol.asyncIterator]();
      expect((await pieces.next()).done).toBe(false);
      await expect(pieces.next()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    });

    it('closes the call to the backend on abort', async () => {
      const [backend] = await fixture.given((response) => void response.write(fileOf('mp3')));
      const abort = new AbortController();
      const pieces = (await speak({}, abort.signal)).bytes[Symbol.asyncIterator]();
      await pieces.next();
      const next = pieces.next();
      abort.abort();
      await expect(next).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
      await eventually('the backend is let go', () => backend?.cut === 1);
    });

    it('slows its backend when it is read slowly, and stays complete', async () => {
      const block = Buffer.concat([HEADS.mp3, Buffer.alloc(65_532)]);
      const blocks = 800;
      let written = 0;
      await fixture.given(async (response) => {
        for (; written < blocks; written += 1) if (!response.write(block)) await once(response, 'drain');
        response.end();
      });
      const stream = await speak();
      let before = -1;
      while (before !== written) {
        before = written;
        await sleep(200);
      }
      expect(written).toBeLessThan(blocks / 2);
      expect((await bytesOf(stream)).length).toBe(blocks * block.length);
    });
  });
}
