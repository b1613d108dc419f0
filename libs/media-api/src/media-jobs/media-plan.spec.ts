import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import type { VideoOrder } from '@svc/api/media-jobs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planMusic, planVideo, quoteMusic, quoteVideo } from './media-plan.js';

const RATIOS = ['16:9', '9:16', '1:1', '21:9'];
const RESOLUTIONS = ['480p', '720p', '1080p'];
const DURATIONS = ['1s', '5s', '30s'];

const music = (id: string, pricing: object): object => ({
  id,
  name: id,
  type: 'music',
  pricing,
  constraints: { supportsLyrics: true },
});

const catalog = new Catalog(
  CatalogFile.parse({
    models: [
      {
        id: 'clip',
        name: 'Clip',
        type: 'video',
        constraints: {
          durations: DURATIONS,
          resolutions: RESOLUTIONS,
          aspectRatios: RATIOS,
          audioConfigurable: true,
        },
        pricing: {
          perSecond: { '480p': 0.013, '720p': 0.041, '1080p': 0.1 },
          perSecondWithAudio: { '480p': 0.02, '720p': 0.05, '1080p': 0.2 },
        },
      },
      {
        id: 'from-files',
        name: 'From files',
        type: 'video',
        constraints: {
          durations: DURATIONS,
          inputs: {
            end_image_url: { part: 'last_image' },
            reference_image_urls: { part: 'references', most: 2 },
            reference_video_urls: { part: 'references' },
          },
        },
        pricing: { perSecond: 0.01 },
      },
      music('tracks', { generation: 0.1 }),
      music('seconds', { perSecond: 0.0023 }),
      music('characters', { perThousandCharacters: 0.115 }),
      music('tiers', { durations: { '60': 0.03, '240': 0.08 } }),
    ],
    tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
  }),
);

const caller = { accountId: 'a', tier: 'standard', paid: true, modelPrivacy: 'ALL' } as Caller;
const buyer = { caller, catalog };

const orders = fc.record(
  {
    duration: fc.constantFrom(...DURATIONS),
    resolution: fc.constantFrom(...RESOLUTIONS),
    aspect_ratio: fc.constantFrom(...RATIOS),
    audio: fc.boolean(),
  },
  { requiredKeys: ['duration', 'aspect_ratio'] },
);

const ORDER: VideoOrder = { model: 'clip', prompt: 'a cat', duration: '5s', aspect_ratio: '16:9' };

describe('the plan of a video', () => {
  it('costs its quote, whatever its options', () => {
    fc.assert(
      fc.property(orders, (options) => {
        const { line } = planVideo({ ...ORDER, ...options }, buyer);
        expect(line).toEqual(quoteVideo({ model: 'clip', ...options }, catalog));
      }),
    );
  });

  it('never costs less for more seconds, a larger image of this model, or sound', () => {
    const nanoOf = (duration: string, resolution: string, audio: boolean): bigint =>
      quoteVideo({ model: 'clip', duration, resolution, audio }, catalog).amountNano;
    const rising = (values: readonly string[]) =>
      fc.tuple(fc.nat(values.length - 1), fc.nat(values.length - 1)).map((at) => {
        const [low = 0, high = 0] = at.toSorted((a, b) => a - b);
        return [values[low] ?? '', values[high] ?? ''] as const;
      });
    const sound = fc.constantFrom([false, false], [false, true], [true, true]);
    fc.assert(
      fc.property(
        rising(DURATIONS),
        rising(RESOLUTIONS),
        sound,
        (seconds, pixels, [less = false, more = false]) => {
          const costNano = nanoOf(seconds[1], pixels[1], more);
          expect(costNano).toBeGreaterThanOrEqual(nanoOf(seconds[0], pixels[0], less));
        },
      ),
    );
  });

  it('has sides of a multiple of 16, with the shorter one near the resolution', () => {
    fc.assert(
      fc.property(orders, (options) => {
        const { order } = planVideo({ ...ORDER, ...options }, buyer);
        const { width = 0, height = 0 } = order;
        const [across = 0, down = 0] = options.aspect_ratio.split(':').map(Number);
        expect([width % 16, height % 16]).toEqual([0, 0]);
        expect(
          Math.abs(Math.min(width, height) - Number.parseInt(options.resolution ?? '480p', 10)),
        ).toBeLessThan(9);
        expect(Math.sign(width - height)).toBe(Math.sign(across - down));
      }),
    );
  });

  it('has further fields as text, apart from its own, for the backend to get those that it may', () => {
    const { order } = planVideo(
      {
        ...ORDER,
        seed: 7,
        guidance: { scale: 3 },
        negative_prompt: 'dogs',
        none: null,
      },
      buyer,
    );
    expect(order.fields).toEqual({ negative_prompt: 'dogs', audio: 'true' });
    expect(order.others).toEqual({ seed: '7', guidance: '{"scale":3}' });
  });

  it.each([
    'seconds',
    'Num_Frames',
    'size',
    'fps',
    'n',
    'input_reference',
    'input_reference[image_url]',
    'a\0b',
    'end_image_url',
    'reference_video_urls',
    'upscale_factor',
  ])('refuses %j by its name, since it is known to be wrong', (field) => {
    expect(() => planVideo({ ...ORDER, [field]: '9' }, buyer)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', param: field }) as Error,
    );
  });

  it.each(['upscale_factor', 'reference_video_total_duration'])('refuses %j in a quote, too', (field) => {
    expect(() => quoteVideo({ ...ORDER, [field]: 2 }, catalog)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', param: field }) as Error,
    );
  });

  describe('of a model that takes further files', () => {
    const order = { model: 'from-files', prompt: 'a cat', duration: '5s' };
    const files = {
      end_image_url: 'https://a.test/1',
      reference_image_urls: ['https://a.test/2', 'https://a.test/3'],
      reference_video_urls: ['https://a.test/4'],
    };

    it('names them, their places and their parts, at the price of its quote', () => {
      const { inputs, line, order: sent } = planVideo({ ...order, ...files }, buyer);
      expect(inputs.map(({ path, media, part }) => [path.join('.'), media, part])).toEqual([
        ['end_image_url', 'image', 'last_image'],
        ['reference_image_urls.0', 'image', 'references'],
        ['reference_image_urls.1', 'image', 'references'],
        ['reference_video_urls.0', 'video', 'references'],
      ]);
      expect(sent.others).toEqual({});
      expect(quoteVideo({ ...order, ...files, reference_video_total_duration: 9 }, catalog)).toEqual(line);
    });

    it.each([
      ['video_url', { video_url: 'https://a.test/1' }],
      ['reference_image_urls', { reference_image_urls: Array(3).fill('https://a.test/1') as string[] }],
    ])('refuses a %s that its entry does not allow, in a quote, too', (param, field) => {
      const refused = expect.objectContaining({ code: 'INVALID_REQUEST', param }) as Error;
      expect(() => planVideo({ ...order, ...field }, buyer)).toThrow(refused);
      expect(() => quoteVideo({ ...order, ...field }, catalog)).toThrow(refused);
    });
  });

  it('passes no URL to a model server', () => {
    const field = { reference: { url: 'http://169.254.169.254/' } };
    expect(() => planVideo({ ...ORDER, ...field }, buyer)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', param: 'reference' }) as Error,
    );
  });
});

describe('the plan of a track', () => {
  it('costs its quote, for each kind of price', () => {
    const kinds = fc.constantFrom('tracks', 'seconds', 'characters', 'tiers');
    fc.assert(
      fc.property(
        kinds,
        fc.integer({ min: 1, max: 240 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        (model, seconds, lyrics) => {
          const order = {
            model,
            prompt: 'slow piano 🎹 music',
            duration_seconds: seconds,
            lyrics_prompt: lyrics,
          };
          const count = [...order.prompt, ...lyrics].length;
          const quote = { model, duration_seconds: seconds, character_count: count };
          expect(planMusic(order, buyer).line).toEqual(quoteMusic(quote, catalog));
        },
      ),
    );
  });

  it('never costs less for more seconds or characters, for each kind of price', () => {
    const kinds = fc.constantFrom('tracks', 'seconds', 'characters', 'tiers');
    const pair = fc
      .tuple(fc.integer({ min: 1, max: 240 }), fc.integer({ min: 1, max: 240 }))
      .map((two) => two.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(kinds, pair, pair, (model, seconds, characters) => {
        const [less = 0n, more = 0n] = [0, 1].map(
          (at) =>
            quoteMusic({ model, duration_seconds: seconds[at], character_count: characters[at] }, catalog)
              .amountNano,
        );
        expect(more).toBeGreaterThanOrEqual(less);
      }),
    );
  });
});
