import type { z } from 'zod';
import type { CatalogFile } from '@svc/contracts/catalog';

type Content = z.input<typeof CatalogFile>;

const limits = { standard: { requestsPerMinute: 10, tokensPerMinute: 1_000 } };
const backends = [{ url: 'http://127.0.0.1:1/v1', model: 'm' }];
const text = { contextTokens: 8_192, maxCompletionTokens: 1_024, backends };
const constraints = { resolutions: ['1K' as const, '2K' as const], qualities: ['high' as const] };

/** A catalogue with every price that there is. */
export const pricedCatalog = (): Content => ({
  tiers: { L: limits },
  otherLimits: { image: { standard: { requestsPerMinute: 5 } } },
  models: [...languageModels(), ...mediaModels()],
  extras: { webSearch: 0.01, webPage: 0.01, xSearch: 0.01, textParser: 0.01 },
  search: { providers: [{ kind: 'simulator' }, { kind: 'brave', apiKeyEnv: 'BRAVE_KEY', price: 0.02 }] },
  cryptoRpc: {
    creditUsd: 0.000_000_7,
    errorCredits: 5,
    networks: {
      base: {
        family: 'evm',
        credits: 20,
        methods: { zks_getL1BatchDetails: 2 },
        nodes: [{ url: 'http://127.0.0.1:2' }],
      },
    },
  },
});

const languageModels = (): Content['models'] => [
  {
    ...text,
    id: 'big',
    name: 'Big',
    traits: ['default'],
    aliases: ['gpt-4o'],
    pricing: {
      input: 1,
      output: 2,
      cacheInput: 0.5,
      cacheWrite: 1.5,
      extended: { contextTokenThreshold: 4_096, input: 3, output: 4, cacheInput: 2, cacheWrite: 3.5 },
    },
  },
  { ...text, id: 'small', name: 'Small', pricing: { input: 0.1, output: 0.2 } },
  { id: 'vectors', name: 'V', type: 'embedding', embeddingDimensions: 8, pricing: { input: 1, output: 1 } },
  {
    id: 'voice',
    name: 'Voice',
    type: 'tts',
    voices: ['a'],
    defaultVoice: 'a',
    formats: ['mp3'],
    defaultFormat: 'mp3',
    pricing: { input: 3.5 },
  },
];

const mediaModels = (): Content['models'] => [
  { id: 'ears', name: 'Ears', type: 'asr', pricing: { perAudioSecond: 0.0001 } },
  {
    id: 'painter',
    name: 'Painter',
    type: 'image',
    constraints,
    pricing: { generation: 0.01, resolutions: { '1K': 0.02 }, quality: { '2K': { high: 0.5 } } },
  },
  {
    id: 'editor',
    name: 'Editor',
    type: 'inpaint',
    constraints,
    pricing: {
      inpaint: 0.04,
      resolutions: { '1K': 0.05 },
      quality: { '2K': { high: 0.3 } },
      inputImages: { additional: 0.01 },
    },
  },
  { id: 'upscaler', name: 'Upscaler', type: 'upscale', pricing: { upscale: { '2x': 0.02, '4x': 0.08 } } },
  {
    id: 'films',
    name: 'Films',
    type: 'video',
    constraints: { durations: ['5s'], resolutions: ['480p', '720p'], audio: true },
    pricing: {
      perSecond: { '480p': 0.02, '720p': 0.04 },
      perSecondWithAudio: { '480p': 0.03, '720p': 0.06 },
    },
  },
  {
    id: 'clips',
    name: 'Clips',
    type: 'video',
    constraints: { durations: ['5s'] },
    pricing: { perSecond: 0.1 },
  },
  { id: 'songs', name: 'Songs', type: 'music', pricing: { generation: 0.1 } },
  { id: 'tunes', name: 'Tunes', type: 'music', pricing: { perSecond: 0.001 } },
  { id: 'hymns', name: 'Hymns', type: 'music', pricing: { perThousandCharacters: 0.1 } },
  { id: 'suites', name: 'Suites', type: 'music', pricing: { durations: { 60: 0.1, 120: 0.2, 240: 0.3 } } },
];
