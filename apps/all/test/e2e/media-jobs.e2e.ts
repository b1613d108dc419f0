import { readdir } from 'node:fs/promises';
import { type Simulator, startSimulator } from '@svc/simulator';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';

let backend: Simulator;
let platform: Platform;
let account: TestAccount;

const CLIP = { durations: ['5s', '10s'], resolutions: ['480p', '720p'], aspectRatios: ['16:9', '9:16'] };

function video(id: string, settings: string, more: object = {}): object {
  return {
    id,
    name: id,
    type: 'video',
    tier: 'XS',
    constraints: CLIP,
    pricing: { perSecond: { '480p': 0.02, '720p': 0.04 } },
    backends: [{ url: `${backend.url}/v1`, model: `clip;delay-ms=0${settings}` }],
    ...more,
  };
}

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  platform = await Platform.start({
    models: [
      video('clip', '', { aliases: ['sora-2'] }),
      video('slow', ';delay-ms=600000'),
      video('refuses', ';fault=refused'),
      video('fails', ';fault=failed'),
      video('html', ';fault=html'),
      video('rejects', ';fault=400'),
      video('images', '', { constraints: { ...CLIP, modelType: 'image-to-video' } }),
      video('from-files', ';delay-ms=600000', {
        constraints: {
          ...CLIP,
          modelType: 'video',
          inputs: {
            end_image_url: { part: 'last_image' },
            reference_image_urls: { part: 'input_references', most: 2 },
            video_url: { part: 'video' },
          },
        },
      }),
      {
        id: 'song',
        name: 'Song',
        type: 'music',
        tier: 'XS',
        pricing: { perSecond: 0.01 },
        constraints: { supportsLyrics: true },
        backends: [{ url: `${backend.url}/v1`, model: 'song;delay-ms=0;media=mp3' }],
      },
    ],
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

it('shows what a music model lets requests choose, in its description itself', async () => {
  const response = await fetch(`${platform.apiUrl}/models/song`);
  expect(await response.json()).toMatchObject({
    type: 'music',
    model_spec: { supports_lyrics: true, supports_loop: false, min_duration: 1, max_duration: 240 },
  });
});

const ORDER = { model: 'clip', prompt: 'A cat', duration: '5s', aspect_ratio: '16:9', resolution: '720p' };

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${platform.apiUrl}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${account.apiKey}`, ...headers },
    body: JSON.stringify(body),
  });
}

async function queue(body: object, kind = 'video', headers: Record<string, string> = {}): Promise<string> {
  const response = await post(`${kind}/queue`, body, headers);
  expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)]);
  return ((await response.json()) as { queue_id: string }).queue_id;
}

/** Polls until the job has ended, and returns the response then. */
async function result(model: string, id: string, kind = 'video'): Promise<Response> {
  let last: Response | undefined;
  await eventually('the job ends', async () => {
    last = await post(`${kind}/retrieve`, { model, queue_id: id });
    return last.status !== 200 || last.headers.get('content-type')?.includes('json') !== true;
  });
  if (!last) throw new Error('no response');
  return last;
}

const balance = async (): Promise<number> => Number((await platform.balances(account.id)).usd);

describe('a video', () => {
  it('costs its quote when it is queued, and is delivered as the backend made it', async () => {
    const before = await balance();
    const quote = await fetch(`${platform.apiUrl}/video/quote`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ORDER),
    });
    expect(await quote.json()).toEqual({ quote: 0.2 });
    const id = await queue(ORDER);
    expect(before - (await balance())).toBeCloseTo(0.2, 9);
    const done = await result('sora-2', id);
    expect(done.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await done.arrayBuffer());
    expect(bytes.length).toBe(Number(done.headers.get('content-length')));
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    expect(await (await result('clip', id)).arrayBuffer()).toEqual(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    );
    expect(before - (await balance())).toBeCloseTo(0.2, 9);
  });

  it('is made from the further files that its model takes', async () => {
    const clip = await (await result('clip', await queue(ORDER))).arrayBuffer();
    const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const url = `data:image/png;base64,${picture.toString('base64')}`;
    const body = {
      ...ORDER,
      model: 'from-files',
      prompt: 'From files',
      image_url: url,
      end_image_url: url,
      reference_image_urls: [url, url],
      video_url: `data:video/mp4;base64,${Buffer.from(clip).toString('base64')}`,
    };
    expect(await (await post('video/quote', body)).json()).toEqual({ quote: 0.2 });
    await queue(body);
    let files: readonly string[] | undefined;
    await eventually('the model server has the files', async () => {
      const jobs = (await (await fetch(`${backend.url}/v1/videos`)).json()) as {
        data: { prompt: string; files: string[] }[];
      };
      files = jobs.data.find(({ prompt }) => prompt === body.prompt)?.files.toSorted();
      return files !== undefined;
    });
    expect(files).toEqual([
      'input_reference image/png',
      'input_references image/png',
      'input_references image/png',
      'last_image image/png',
      'video video/mp4',
    ]);
  });

  it('is deleted by complete, which may be repeated', async () => {
    const id = await queue(ORDER);
    await result('clip', id);
    for (let time = 0; time < 2; time += 1)
      expect(await (await post('video/complete', { model: 'clip', queue_id: id })).json()).toEqual({
        success: true,
      });
    const gone = await post('video/retrieve', { model: 'clip', queue_id: id });
    expect([gone.status, (await errorOf(gone)).code]).toEqual([404, 'MEDIA_NOT_FOUND']);
    await eventually('its file is deleted', async () => !(await readdir(platform.mediaDir)).includes(id));
  });

  it('is deleted after delivery on request', async () => {
    const id = await queue(ORDER);
    await result('clip', id);
    const body = { model: 'clip', queue_id: id, delete_media_on_completion: true };
    await (await post('video/retrieve', body)).arrayBuffer();
    await eventually('its file is deleted', async () => !(await readdir(platform.mediaDir)).includes(id));
    expect((await post('video/retrieve', { model: 'clip', queue_id: id })).status).toBe(404);
  });

  it('shows its progress, and cannot be completed before it has ended', async () => {
    const id = await queue({ ...ORDER, model: 'slow' });
    const progress = await post('video/retrieve', { model: 'slow', queue_id: id });
    expect(await progress.json()).toEqual({
      status: 'PROCESSING',
      average_execution_time: 120_000,
      execution_duration: expect.any(Number),
    });
    expect((await post('video/complete', { model: 'slow', queue_id: id })).status).toBe(400);
  });

  it.each<[string, [number, string, string]]>([
    ['refuses', [422, 'CONTENT_POLICY_VIOLATION', 'provider_content_policy']],
    ['fails', [500, 'INFERENCE_FAILED', 'api_error']],
    ['rejects', [500, 'INFERENCE_FAILED', 'api_error']],
  ])(
    'of the model %s fails with the same error each time, and its cost is returned',
    async (model, [status, code, type]) => {
      const before = await balance();
      const id = await queue({ ...ORDER, model });
      let failed: unknown;
      await eventually('its cost is returned', async () => {
        const response = await post('video/retrieve', { model, queue_id: id });
        failed = [response.status, await response.json()];
        return JSON.stringify(failed).includes('"credits_refunded":true');
      });
      expect(failed).toMatchObject([status, { code, error: { type } }]);
      expect(await balance()).toBeCloseTo(before, 9);
    },
  );

  it('is not bought twice with the same idempotency key, nor by a retry of an OpenAI client', async () => {
    const before = await balance();
    const headers = { 'idempotency-key': 'order-1' };
    const id = await queue(ORDER, 'video', headers);
    const again = await post('video/queue', ORDER, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.json()).toEqual({ model: 'clip', queue_id: id });
    const other = await post('video/queue', { ...ORDER, prompt: 'A dog' }, headers);
    expect([other.status, (await errorOf(other)).code]).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    const own = { ...ORDER, prompt: 'A horse' };
    const first = await queue(own);
    expect(await queue(own, 'video', { 'x-stainless-retry-count': '1' })).toBe(first);
    expect(before - (await balance())).toBeCloseTo(0.4, 9);
  });

  it('of another account, model or id is unknown', async () => {
    const id = await queue(ORDER);
    const stranger = await platform.account('1.00');
    const foreign = { authorization: `Bearer ${stranger.apiKey}` };
    const body = { model: 'clip', queue_id: id };
    for (const response of [
      await post('video/retrieve', body, foreign),
      await post('video/retrieve', { ...body, model: 'slow' }),
      await post('video/retrieve', { ...body, queue_id: 'nothing' }),
      await post('audio/retrieve', body),
      await post('video/complete', body, foreign),
    ])
      expect([response.status, (await errorOf(response)).code]).toEqual([400, 'REQUEST_ID_NOT_FOUND']);
  });

  it.each([
    ['duration', { duration: '7s' }],
    ['aspect_ratio', { aspect_ratio: undefined }],
    ['aspect_ratio', { aspect_ratio: '4:3' }],
    ['resolution', { resolution: '4k' }],
    ['prompt', { prompt: 'x'.repeat(2_501) }],
    ['image_url', { image_url: 'https://example.com/cat.png' }],
    ['image_url', { model: 'images' }],
    ['image_url', { model: 'images', image_url: 'http://127.0.0.1:1/cat.png' }],
    ['video_url', { video_url: 'https://example.com/cat.mp4' }],
    ['end_image_url', { model: 'from-files', end_image_url: 'http://127.0.0.1:1/cat.png' }],
    ['video_url', { model: 'from-files', video_url: 'data:video/mp4;base64,AAAA' }],
    ['reference_image_urls.0', { model: 'from-files', reference_image_urls: ['http://127.0.0.1:1/cat.png'] }],
    ['num_frames', { num_frames: 10_000 }],
    ['seconds', { seconds: 60 }],
    ['model', { model: 'nothing' }],
  ])('with a faulty %s costs nothing', async (param, change) => {
    const before = await balance();
    const response = await post('video/queue', { ...ORDER, ...change });
    const { error, issues } = (await response.json()) as {
      error: { param: string | null };
      issues?: { path: string[] }[];
    };
    expect([400, 404]).toContain(response.status);
    expect(error.param ?? issues?.[0]?.path[0]).toBe(param);
    expect(await balance()).toBeCloseTo(before, 9);
  });
});

describe.each([
  ['NUL', 'a\0b'],
  ['half of a surrogate pair', '\ud83d'],
])('a text with %s', (_what, text) => {
  const song = { model: 'song', prompt: 'Slow piano music', duration_seconds: 30 };
  const job = { model: 'clip', queue_id: 'x' };

  it.each([
    ['prompt', 'video/queue', { ...ORDER, prompt: text }],
    ['negative_prompt', 'video/queue', { ...ORDER, negative_prompt: text }],
    ['anon_user_id', 'video/queue', { ...ORDER, anon_user_id: text }],
    ['further.0.a', 'video/queue', { ...ORDER, further: [{ a: text }] }],
    ['prompt', 'audio/queue', { ...song, prompt: text }],
    ['lyrics_prompt', 'audio/queue', { ...song, lyrics_prompt: text }],
    ['voice', 'audio/queue', { ...song, voice: text }],
    ...['video/retrieve', 'video/complete', 'audio/retrieve', 'audio/complete'].flatMap(
      (path): [string, string, object][] => [
        ['model', path, { ...job, model: text }],
        ['queue_id', path, { ...job, queue_id: text }],
      ],
    ),
  ])('is a fault of %s of %s', async (param, path, body) => {
    const response = await post(path, body);
    const { error } = await errorOf(response);
    expect([response.status, error.param]).toEqual([400, param]);
  });
});

describe('music', () => {
  it('costs its quote, and is delivered', async () => {
    const before = await balance();
    const body = { model: 'song', duration_seconds: '30' };
    expect(await (await post('audio/quote', body)).json()).toEqual({ quote: 0.3 });
    const order = { ...body, prompt: 'Slow piano music', lyrics_prompt: 'La la la' };
    const id = await queue(order, 'audio');
    const done = await result('song', id, 'audio');
    expect(done.headers.get('content-type')).toBe('audio/mpeg');
    expect((await done.arrayBuffer()).byteLength).toBe(120_000);
    expect(before - (await balance())).toBeCloseTo(0.3, 9);
  });

  it('refuses options that its model does not have', async () => {
    const response = await post('audio/queue', { model: 'song', prompt: 'Slow piano music', loop: true });
    expect([response.status, (await errorOf(response)).issues?.[0]?.path[0]]).toEqual([400, 'loop']);
  });
});
