import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalidRequest } from '../http/api-error.js';
import { partsOf } from '../http/form-parts.js';
import { Hash } from '../random.js';
import { parseJson } from '../request/chat-request.js';
import { faultError, isFault } from '../request/faults.js';
import type { Overrides } from '../request/overrides.js';
import { type Image, hollowPng, tinyJpeg, tinyPng, tinyWebp } from './tiny-images.js';

/**
 * What a backend may do wrong, other than the faults that respond with an error status. Those with `url` name
 * images by URL; `missing` makes one image too few and `single` only one; `huge` claims 60,000 × 60,000
 * pixels; `small` enlarges nothing, and halves what is only changed.
 */
const FAULTS = [
  'url',
  'url-relative',
  'url-foreign',
  'jpeg',
  'missing',
  'single',
  'black',
  'first-black',
  'broken',
  'huge',
  'small',
  'comment',
  'html',
  'html-image',
  'empty',
  'policy',
] as const;
type Fault = (typeof FAULTS)[number];

const IMAGES_AT_MOST = 10;
const SIDE_AT_MOST = 4_096;
const CHANGED_SIDE_AT_MOST = 16_384;
const DELAY_MS_AT_MOST = 600_000;
const DEFAULT_RETRY_S = 1;
const RECORDS_AT_MOST = 100;
const CUT_BYTES = 60;

const HTML = '<!doctype html><title>Bad gateway</title>';

/** A request for images as it arrived, and whether its client left before the response. */
interface ImageRecord {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  isAborted: boolean;
}

interface ImagesCall {
  readonly prompt: string;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly seed: number;
  readonly format: string;
  readonly faults: ReadonlySet<string>;
}

/**
 * Serves OpenAI's images and edits, those of the Stable Diffusion web UI, and rembg's cutouts: images of
 * one colour, which depends on the prompt, the seed and the position. Settings follow the model's name, as in
 * `paint;fault=black;delay-ms=50`; the web UI has no model, and only the faults that are set for the next
 * requests. `GET /sim/images` returns the last requests.
 */
export function addImageRoutes(app: FastifyInstance, takeDefaults: () => Overrides): void {
  const records: ImageRecord[] = [];
  const files = new Map<string, Buffer>();
  const begin = async (request: FastifyRequest): Promise<readonly [ImageRecord, Settings]> => {
    const body = bodyOf(request);
    const record = { path: request.url, body, isAborted: false };
    records.push(record);
    if (records.length > RECORDS_AT_MOST) records.shift();
    const settings = settingsOf(textOr(body['model'], ''), takeDefaults());
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    request.raw.socket.once('close', leave);
    await sleep(settings.delayMs, undefined, { signal: leaving.signal }).catch(() => undefined);
    request.raw.socket.off('close', leave);
    record.isAborted = leaving.signal.aborted;
    return [record, settings];
  };
  app.get('/sim/images', () => ({ data: records }));
  app.get<{ Params: { name: string } }>('/v1/images/files/:name', ({ params }, reply) => {
    const file = files.get(params.name);
    if (!file) throw new ApiError(404, 'No such image.', { code: 'not_found' });
    return reply.type('image/png').send(file);
  });
  app.post('/v1/images/generations', async (request, reply) => {
    const [{ body }, { faults }] = await begin(request);
    const call = openAiCall(body, faults);
    return send(call, reply, (images) => ({ data: images.map((image) => itemOf(image, call)) }));
  });
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, parsed) =>
      parsed(null, body),
    );
    scope.post('/v1/images/edits', async (request, reply) => {
      const [{ body }, { faults }] = await begin(request);
      if (body['image'] === undefined) throw invalidRequest("'image' is required.", 'image');
      const call = openAiCall(body, faults);
      return send(call, reply, (images) => ({ data: images.map((image) => itemOf(image, call)) }));
    });
    for (const path of ['/api/remove', '/v1/api/remove'])
      scope.post(path, async (request, reply) => {
        const call = cutoutCall(request, (await begin(request))[1].faults);
        return reply.type('image/png').send(imageOf(call, 0));
      });
    done();
  });
  app.post('/sdapi/v1/txt2img', async (request, reply) => {
    const [{ body }, { faults }] = await begin(request);
    const call = webUiCall(body, faults);
    return send(call, reply, (images) => ({ images: images.map(base64), parameters: body, info: '' }));
  });
  for (const path of ['/sdapi/v1/extra-single-image', '/v1/sdapi/v1/extra-single-image'])
    app.post(path, async (request, reply) => {
      const [{ body }, { faults }] = await begin(request);
      return send(upscaleCall(body, faults), reply, enlarged);
    });

  function itemOf(image: Buffer, { faults }: ImagesCall): object {
    const named = ['url', 'url-relative', 'url-foreign'].find((fault) => faults.has(fault));
    if (named === undefined) return { b64_json: base64(image) };
    const name = `${new Hash().add(base64(image)).value()}.png`;
    files.set(name, image);
    if (files.size > RECORDS_AT_MOST) files.delete([...files.keys()][0] ?? '');
    const path = `/v1/images/files/${name}`;
    const address = app.server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    if (named === 'url-relative') return { url: path };
    // Another name of the same host.
    return { url: `http://${named === 'url' ? '127.0.0.1' : 'localhost'}:${port}${path}` };
  }
}

const enlarged = ([image = Buffer.of()]: readonly Buffer[]): object => ({
  image: base64(image),
  html_info: '',
});

/** Of a form: its texts, and the types and lengths of its files as lists. */
function bodyOf({ body, headers }: FastifyRequest): Record<string, unknown> {
  if (!Buffer.isBuffer(body)) return parseJson(typeof body === 'string' ? body : '');
  const form: Record<string, unknown> = {};
  for (const { name, type, content } of partsOf(body, headers['content-type'] ?? '')) {
    const member = name.replace('[]', '');
    const files = Array.isArray(form[member]) ? (form[member] as unknown[]) : [];
    form[member] = type === undefined ? content.toString() : [...files, { type, bytes: content.length }];
  }
  return form;
}

const base64 = (bytes: Buffer): string => bytes.toString('base64');

interface Settings {
  readonly faults: ReadonlySet<string>;
  readonly delayMs: number;
}

function settingsOf(model: string, defaults: Overrides): Settings {
  const settings = new URLSearchParams(model.split(';').slice(1).join('&'));
  const named = settings.get('fault')?.split(',') ?? [];
  const faults = new Set<string>([...named, ...(defaults.faults ?? [])]);
  const refusal = faultError(new Set([...faults].filter(isFault)), defaults.retryAfterS ?? DEFAULT_RETRY_S);
  if (refusal) throw refusal;
  const delayMs = Number(settings.get('delay-ms') ?? defaults.delayMs ?? 0);
  return { faults, delayMs: whole(delayMs, 'delay-ms', DELAY_MS_AT_MOST) };
}

function openAiCall(body: Readonly<Record<string, unknown>>, faults: ReadonlySet<string>): ImagesCall {
  const [width, height] = textOr(body['size'], '1024x1024').split('x');
  return {
    prompt: textOf(body['prompt']),
    count: whole(body['n'] ?? 1, 'n', IMAGES_AT_MOST),
    width: whole(width, 'size', SIDE_AT_MOST),
    height: whole(height, 'size', SIDE_AT_MOST),
    seed: Number(body['seed'] ?? 0),
    format: textOr(body['output_format'], 'png'),
    faults,
  };
}

function webUiCall(body: Readonly<Record<string, unknown>>, faults: ReadonlySet<string>): ImagesCall {
  return {
    prompt: textOf(body['prompt']),
    count: whole(body['batch_size'] ?? 1, 'batch_size', IMAGES_AT_MOST),
    width: whole(body['width'] ?? 512, 'width', SIDE_AT_MOST),
    height: whole(body['height'] ?? 512, 'height', SIDE_AT_MOST),
    seed: Number(body['seed'] ?? 0),
    format: 'png',
    faults,
  };
}

function upscaleCall(body: Readonly<Record<string, unknown>>, faults: ReadonlySet<string>): ImagesCall {
  const source = Buffer.from(textOf(body['image'], 'image'), 'base64');
  return changeCall(source, faults.has('small') ? 1 : Number(body['upscaling_resize'] ?? 2), faults);
}

function cutoutCall({ body, headers }: FastifyRequest, faults: ReadonlySet<string>): ImagesCall {
  const parts = Buffer.isBuffer(body) ? partsOf(body, headers['content-type'] ?? '') : [];
  const file = parts.find(({ name }) => name === 'file');
  if (!file) throw invalidRequest("'file' is required.", 'file');
  return changeCall(file.content, faults.has('small') ? 0.5 : 1, faults);
}

/** An enlargement or another change of an image, which must be a PNG. */
function changeCall(source: Buffer, factor: number, faults: ReadonlySet<string>): ImagesCall {
  if (source.toString('latin1', 12, 16) !== 'IHDR') throw invalidRequest('Expected a PNG.', 'image');
  return {
    prompt: '',
    count: 1,
    width: whole(Math.floor(source.readUInt32BE(16) * factor), 'width', CHANGED_SIDE_AT_MOST),
    height: whole(Math.floor(source.readUInt32BE(20) * factor), 'height', CHANGED_SIDE_AT_MOST),
    seed: 0,
    format: 'png',
    faults,
  };
}

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);

function textOf(value: unknown, field = 'prompt'): string {
  if (typeof value === 'string') return value;
  throw invalidRequest(`'${field}' is required.`, field);
}

function whole(value: unknown, field: string, most: number): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0 && number <= most) return number;
  throw invalidRequest(`Expected a whole number up to ${most}.`, field);
}

function send(call: ImagesCall, reply: FastifyReply, body: (images: readonly Buffer[]) => object): unknown {
  const has = (fault: Fault): boolean => call.faults.has(fault);
  if (has('policy'))
    throw new ApiError(400, 'The prompt is not allowed (injected).', { code: 'content_policy_violation' });
  if (has('html')) return reply.type('text/html').send(HTML);
  const possible = has('single') ? 1 : Math.max(1, call.count - (has('missing') ? 1 : 0));
  const count = has('empty') ? 0 : possible;
  const images = Array.from({ length: count }, (_, index) => imageOf(call, index));
  return reply.type('application/json').send(JSON.stringify({ created: 0, ...body(images) }));
}

function imageOf(call: ImagesCall, index: number): Buffer {
  const { prompt, seed, faults, format } = call;
  const has = (fault: Fault): boolean => faults.has(fault);
  if (has('huge')) return hollowPng(60_000, 60_000);
  if (has('html-image')) return Buffer.from(HTML);
  const isBlack = has('black') || (has('first-black') && index === 0 && call.count > 1);
  const drawn: Image = { ...call, colour: isBlack ? [0, 0, 0] : colourOf(prompt, seed + index) };
  if (has('broken')) return tinyPng(drawn).subarray(0, CUT_BYTES);
  if (has('comment')) return tinyPng(drawn, prompt);
  if (has('jpeg') || format === 'jpeg') return tinyJpeg(drawn);
  return format === 'webp' ? tinyWebp(drawn) : tinyPng(drawn);
}

/** Never dark. */
function colourOf(prompt: string, seed: number): [number, number, number] {
  const hash = new Hash().add(prompt).addNumber(seed).value();
  return [64 + (hash % 192), 64 + (Math.floor(hash / 192) % 192), 64 + (Math.floor(hash / 36_864) % 192)];
}
