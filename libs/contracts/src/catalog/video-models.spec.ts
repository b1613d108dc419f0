import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeLine } from '../messages/usage.js';
import { usdToNano } from '../money/money.js';
import { CatalogEntry, type CatalogMusicModel, type CatalogVideoModel } from './catalog.js';
import { musicPrice, videoPrice } from './video-models.js';

const VIDEO = {
  id: 'clip-1',
  name: 'Clip',
  type: 'video',
  constraints: { durations: ['5s', '10s'], resolutions: ['480p', '720p'], aspectRatios: ['16:9'] },
  pricing: { perSecond: { '480p': 0.02, '720p': 0.04 }, perSecondWithAudio: { '480p': 0.03, '720p': 0.06 } },
};

const MUSIC = { id: 'song-1', name: 'Song', type: 'music', pricing: { perSecond: 0.0023 } };

const issuesOf = (entry: object): string[] =>
  CatalogEntry.safeParse(entry).error?.issues.map(({ path }) => path.join('.')) ?? [];

describe('video and music models', () => {
  it('load with a price', () => {
    expect(issuesOf(VIDEO)).toEqual([]);
    expect(issuesOf({ ...VIDEO, pricing: { perSecond: 0.1 } })).toEqual([]);
    expect(issuesOf(MUSIC)).toEqual([]);
    expect(issuesOf({ ...MUSIC, pricing: { durations: { '60': 0.03, '240': 0.08 } } })).toEqual([]);
  });

  it('take further files as parts of any name that has no other meaning', () => {
    const taking = (inputs: object): string[] =>
      issuesOf({ ...VIDEO, constraints: { ...VIDEO.constraints, inputs } });
    expect(taking({ end_image_url: { part: 'last_image' }, video_url: { part: 'video[]' } })).toEqual([]);
    expect(taking({ video_url: { part: 'prompt' } })).toEqual(['constraints.inputs.video_url.part']);
    expect(taking({ audio_url: { part: 'audio' } })).toEqual(['constraints.inputs']);
  });

  it.each([
    ['a video without a price', { ...VIDEO, pricing: undefined }, 'pricing'],
    [
      'a resolution without a price',
      { ...VIDEO, pricing: { perSecond: { '480p': 1 } } },
      'pricing.perSecond',
    ],
    [
      'a price for another resolution',
      { ...VIDEO, pricing: { perSecond: { '480p': 1, '720p': 1, '999p': 1 } } },
      'pricing.perSecond.999p',
    ],
    [
      'prices by resolution without resolutions',
      { ...VIDEO, constraints: { durations: ['5s'] }, pricing: { perSecond: { '480p': 1 } } },
      'pricing.perSecond',
    ],
    ['an automatic duration', { ...VIDEO, constraints: { durations: ['auto'] } }, 'constraints.durations.0'],
    [
      'a ratio that YAML 1.1 has read as a number',
      { ...VIDEO, constraints: { durations: ['5s'], aspectRatios: [969] } },
      'constraints.aspectRatios.0',
    ],
    ['music without a price', { ...MUSIC, pricing: undefined }, 'pricing'],
    ['a duration without a price', { ...MUSIC, pricing: { durations: { '60': 1 } } }, 'pricing.durations'],
    [
      'a default beyond the longest',
      { ...MUSIC, constraints: { maxDuration: 30 } },
      'constraints.defaultDuration',
    ],
  ])('refuses %s', (_, entry, path) => {
    expect(issuesOf(entry)).toContain(path);
  });
});

const usd = fc.integer({ min: 0, max: 1_000_000_000 }).map((micro) => micro / 1e6);
const seconds = fc.integer({ min: 1, max: 3_600 });

/** Two numbers, the smaller one first. */
const pairOf = (number: fc.Arbitrary<number>): fc.Arbitrary<[number, number]> =>
  fc.tuple(number, number).map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);

const videoNano = (perSecond: number, measured: number): bigint => {
  const model = { id: 'v', pricing: { perSecond } } as unknown as CatalogVideoModel;
  const { price, units } = videoPrice(model, { seconds: measured, resolution: undefined, hasAudio: false });
  return chargeLine(price, units).amountNano;
};

const musicNano = (pricing: object, measured: { seconds: number; characters: number }): bigint => {
  const { price, units } = musicPrice({ id: 'm', pricing } as unknown as CatalogMusicModel, measured);
  return chargeLine(price, units).amountNano;
};

describe('the price', () => {
  it('of a video is exactly its seconds times the price of one', () => {
    fc.assert(
      fc.property(usd, seconds, (each, length) => {
        expect(videoNano(each, length)).toBe(usdToNano(each) * BigInt(length));
      }),
    );
  });

  it('depends on the resolution and on sound, and names both in its SKU', () => {
    const model = CatalogEntry.parse(VIDEO) as CatalogVideoModel;
    const silent = videoPrice(model, { seconds: 5, resolution: '720p', hasAudio: false });
    const loud = videoPrice(model, { seconds: 5, resolution: '720p', hasAudio: true });
    expect(silent.price.sku).toBe('clip-1-video-720p-second');
    expect(loud.price.sku).toBe('clip-1-video-720p-audio-second');
    expect(chargeLine(silent.price, silent.units).amountNano).toBe(usdToNano(0.2));
    expect(chargeLine(loud.price, loud.units).amountNano).toBe(usdToNano(0.3));
  });

  it('of a video and of each kind of music never falls with more seconds or characters', () => {
    const kinds = [
      { generation: 0.1 },
      { perSecond: 0.0023 },
      { perThousandCharacters: 0.115 },
      { durations: { '60': 0.03, '240': 0.04, '3600': 0.08 } },
    ];
    fc.assert(
      fc.property(usd, pairOf(seconds), pairOf(fc.nat(20_000)), (each, [less, more], [few, many]) => {
        expect(videoNano(each, less)).toBeLessThanOrEqual(videoNano(each, more));
        for (const kind of kinds)
          expect(musicNano(kind, { seconds: less, characters: few })).toBeLessThanOrEqual(
            musicNano(kind, { seconds: more, characters: many }),
          );
      }),
    );
  });

  it('of music is that of its tier, its seconds or its characters', () => {
    const tiers = { durations: { '60': 0.03, '90': 0.04 } };
    const at = (length: number): bigint => musicNano(tiers, { seconds: length, characters: 0 });
    expect([at(1), at(60), at(61), at(90)]).toEqual([0.03, 0.03, 0.04, 0.04].map(usdToNano));
    expect(() => at(91)).toThrow(RangeError);
    expect(musicNano({ perSecond: 0.0023 }, { seconds: 10, characters: 9 })).toBe(usdToNano(0.023));
    expect(musicNano({ perThousandCharacters: 0.115 }, { seconds: 9, characters: 2_000 })).toBe(
      usdToNano(0.23),
    );
  });
});
