import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import sharp from 'sharp';
import { silentWav } from './silent-wav.js';

/** A type of models, for which the platform of the tests has models named after it. */
type ModelType =
  | 'text'
  | 'embedding'
  | 'rerank'
  | 'moderation'
  | 'tts'
  | 'asr'
  | 'image'
  | 'inpaint'
  | 'upscale'
  | 'video'
  | 'music';

/** What is sold by a route, with a request that works. */
export interface PaidRoute {
  readonly type?: ModelType;
  /** The `:name` in its path. */
  readonly name?: string;
  readonly body: (model: string) => object | FormData;
  /** Costs nothing, but may only be used for models that may be used. */
  readonly isFree?: true;
}

const PNG_BASE64 = (
  await sharp({ create: { width: 64, height: 64, channels: 3, background: '#336699' } })
    .png()
    .toBuffer()
).toString('base64');
const IMAGE = `data:image/png;base64,${PNG_BASE64}`;

function spoken(model: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(silentWav())]), 'a.wav');
  form.append('model', model);
  return form;
}

const messages = [{ role: 'user', content: 'hi' }];
const clip = { prompt: 'a cat', duration: '5s', aspect_ratio: '16:9', resolution: '480p' };

/** Every route that costs money, by its name in the catalogue of routes. */
export const PAID: Readonly<Record<string, PaidRoute>> = {
  chatCompletions: { type: 'text', body: (model) => ({ model, messages }) },
  completions: { type: 'text', body: (model) => ({ model, prompt: 'hi' }) },
  responses: { type: 'text', body: (model) => ({ model, input: 'hi' }) },
  inputTokens: { type: 'text', body: (model) => ({ model, input: 'hi' }), isFree: true },
  messages: { type: 'text', body: (model) => ({ model, messages, max_tokens: 16 }) },
  countTokens: { type: 'text', body: (model) => ({ model, messages }), isFree: true },
  embeddings: { type: 'embedding', body: (model) => ({ model, input: 'hi' }) },
  rerank: { type: 'rerank', body: (model) => ({ model, query: 'hi', documents: ['hi'] }) },
  moderations: { type: 'moderation', body: (model) => ({ model, input: 'hi' }) },
  speech: { type: 'tts', body: (model) => ({ model, input: 'hi' }) },
  createVoice: { type: 'tts', body: spoken, isFree: true },
  transcription: { type: 'asr', body: spoken },
  translation: { type: 'asr', body: spoken },
  generateImage: { type: 'image', body: (model) => ({ model, prompt: 'a' }) },
  generateImages: { type: 'image', body: (model) => ({ model, prompt: 'a' }) },
  editImages: { type: 'inpaint', body: (model) => ({ model, prompt: 'a', images: [{ image_url: IMAGE }] }) },
  editImage: { type: 'inpaint', body: (model) => ({ model, prompt: 'a', image: PNG_BASE64 }) },
  multiEditImage: { type: 'inpaint', body: (modelId) => ({ modelId, prompt: 'a', images: [PNG_BASE64] }) },
  upscaleImage: { type: 'upscale', body: (model) => ({ model, image: PNG_BASE64 }) },
  removeBackground: { type: 'image', body: (model) => ({ model, image: PNG_BASE64 }) },
  queueVideo: { type: 'video', body: (model) => ({ model, ...clip }) },
  queueMusic: { type: 'music', body: (model) => ({ model, prompt: 'a slow song' }) },
  augmentSearch: { body: () => ({ query: 'hi' }) },
  augmentScrape: { body: () => ({ url: 'https://example.com/' }) },
  augmentParse: {
    body: () => {
      const form = new FormData();
      form.append('file', new Blob(['a text']), 'a.txt');
      return form;
    },
  },
  callRpc: { name: 'chain', body: () => ({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }) },
};

/** Routes for keys and wallets that cost nothing and sell no model. */
export const UNPAID: ReadonlySet<string> = new Set([
  'retrieveVideo',
  'completeVideo',
  'retrieveMusic',
  'completeMusic',
  'walletBalance',
  'walletTransactions',
  'solanaTransfer',
]);

export const routeNamed = (name: string): RouteDefinition => {
  const route = new Map<string, RouteDefinition>(Object.entries(routes)).get(name);
  if (!route) throw new Error(`there is no route ${name}`);
  return route;
};

/** Models of every type with this ending of their name, at some price. */
export function modelsFor(url: string, ending: string, more: object): object[] {
  const model = (
    type: ModelType,
    own: object,
    backend: object = { url: `${url}/v1`, model: type },
  ): object => ({
    id: `${type}-${ending}`,
    name: type,
    type,
    tier: 'XS',
    backends: [backend],
    ...own,
    ...more,
  });
  const edits = {
    constraints: { maxInputImages: 3 },
    pricing: { inpaint: 0.04, inputImages: { additional: 0.01 } },
  };
  const videos = { durations: ['5s'], resolutions: ['480p'], aspectRatios: ['16:9'] };
  const simulated = { kind: 'simulator', url: `${url}/v1`, model: 'any' };
  return [
    { id: `text-${ending}`, ...more },
    model(
      'embedding',
      { embeddingDimensions: 8, pricing: { input: 100 } },
      { url: `${url}/v1`, model: 'embed;dimensions=8' },
    ),
    model('rerank', { pricing: { input: 100 } }),
    model('moderation', { pricing: { input: 100 } }),
    model('tts', {
      voices: ['v'],
      voiceCloning: { minSeconds: 1 },
      defaultVoice: 'v',
      formats: ['wav'],
      defaultFormat: 'wav',
      pricing: { input: 100 },
    }),
    model('asr', { pricing: { perAudioSecond: 0.01 } }),
    model('image', { pricing: { generation: 0.01 } }, simulated),
    model('inpaint', edits, simulated),
    model('upscale', { pricing: { upscale: { '2x': 0.02, '4x': 0.08 } } }, simulated),
    model(
      'video',
      { constraints: videos, pricing: { perSecond: { '480p': 0.02 } } },
      { url: `${url}/v1`, model: 'clip;delay-ms=0' },
    ),
    model(
      'music',
      { constraints: {}, pricing: { perSecond: 0.01 } },
      { url: `${url}/v1`, model: 'song;delay-ms=0;media=mp3' },
    ),
  ];
}
