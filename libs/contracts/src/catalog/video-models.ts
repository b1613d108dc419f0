import { z } from 'zod';
import type { Price } from '../messages/usage.js';
import { usdToNano } from '../money/money.js';

const Usd = z.number().nonnegative().max(1_000_000);
const PositiveCount = z.int().positive();

/** The longest video or track that can be sold. */
const SECONDS_AT_MOST = 3_600;
const Seconds = PositiveCount.max(SECONDS_AT_MOST);

/** Whole seconds, such as `5s`. */
const DURATION = /^([1-9]\d{0,3})s$/;

const Duration = z
  .string()
  .regex(DURATION, 'must be whole seconds, such as 5s')
  .refine((text) => secondsOf(text) <= SECONDS_AT_MOST, `must be at most ${SECONDS_AT_MOST}s`);

/** Width to height, such as `16:9`. A YAML 1.1 writer must quote it. */
const AspectRatio = z.string().regex(/^[1-9]\d?:[1-9]\d?$/, 'must be a ratio such as "16:9"');

/** The shorter side in pixels, such as `720p`. */
const Resolution = z.string().regex(/^[1-9]\d{2,3}p$/, 'must be the shorter side, such as 720p');

/** USD per second: one price, or one for each resolution. */
const PerSecond = z.union([Usd, z.record(Resolution, Usd)]);

/** The seconds of a duration such as `5s`. */
export function secondsOf(duration: string): number {
  return Number(duration.slice(0, -1));
}

function isUnique(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

const Names = <Name extends z.ZodType<string>>(name: Name) =>
  z.array(name).refine(isUnique, 'must not repeat a value');

/** The fields of requests that bring further files, each with what its files are. */
export const VIDEO_INPUTS = {
  end_image_url: 'image',
  reference_image_urls: 'image',
  reference_video_urls: 'video',
  video_url: 'video',
} as const;

export type VideoInput = keyof typeof VIDEO_INPUTS;

/** Parts of the form that have a meaning of their own. */
const OWN_PARTS = ['model', 'prompt', 'seconds', 'size'];

const InputPart = z
  .string()
  .regex(/^[A-Za-z_][\w.-]{0,63}(\[\])?$/, 'must be the name of a part')
  .refine((part) => !OWN_PARTS.includes(part), 'has another meaning');

/** How the backends of a model take the files of a field: as parts of a form with this name. */
const InputFiles = z.strictObject({ part: InputPart, most: PositiveCount.max(30).default(1) });

const VideoConstraints = z.strictObject({
  modelType: z.enum(['text-to-video', 'image-to-video', 'video']).default('text-to-video'),
  durations: Names(Duration).min(1),
  /** Without any, the backend chooses. The first is the default. */
  resolutions: Names(Resolution).default([]),
  /** Without any, requests name none. */
  aspectRatios: Names(AspectRatio).default([]),
  /** Whether its videos have sound. */
  audio: z.boolean().default(false),
  /** Whether requests may choose that. */
  audioConfigurable: z.boolean().default(false),
  promptCharacterLimit: PositiveCount.max(20_000).default(2_500),
  /** The fields with further files that its backends take; without any, they are refused. */
  inputs: z
    .partialRecord(z.enum(Object.keys(VIDEO_INPUTS) as [VideoInput, ...VideoInput[]]), InputFiles)
    .default({}),
});

const VideoPricing = z.strictObject({
  perSecond: PerSecond,
  /** With sound; default: the same. */
  perSecondWithAudio: PerSecond.optional(),
});

/** How long a job usually takes and may take. */
const jobTimes = {
  /** The usual time, before any job has ended. */
  expectedSeconds: PositiveCount.max(86_400).default(120),
  /** A job that has not ended by then fails, and its cost is returned. */
  deadlineSeconds: PositiveCount.max(43_200).default(1_800),
};

interface Faults {
  readonly addIssue: (issue: { code: 'custom'; path: (string | number)[]; message: string }) => void;
}

/** The fields of a video model in addition to those of every model. */
export const videoFields = {
  type: z.literal('video'),
  constraints: VideoConstraints,
  pricing: VideoPricing,
  ...jobTimes,
};

type VideoFields = z.infer<z.ZodObject<typeof videoFields>>;

/** Reports each resolution without a price, and each price without a resolution. */
export function checkVideoPrices({ constraints, pricing }: VideoFields, faults: Faults): void {
  for (const [name, prices] of Object.entries(pricing)) {
    if (typeof prices === 'number') continue;
    const path = ['pricing', name];
    const { resolutions } = constraints;
    const missing = resolutions.find((resolution) => !Object.hasOwn(prices, resolution));
    if (missing !== undefined || resolutions.length === 0)
      faults.addIssue({ code: 'custom', path, message: `needs a price for ${missing ?? 'any resolution'}` });
    const extra = Object.keys(prices).find((resolution) => !resolutions.includes(resolution));
    if (extra !== undefined)
      faults.addIssue({ code: 'custom', path: [...path, extra], message: 'is not among the resolutions' });
  }
}

const MusicPricing = z.union([
  z.strictObject({ generation: Usd }),
  z.strictObject({ perSecond: Usd }),
  z.strictObject({ perThousandCharacters: Usd }),
  z.strictObject({
    /** USD per track, by its longest duration in seconds. */
    durations: z
      .record(z.string().regex(/^[1-9]\d{0,3}$/, 'must be whole seconds'), Usd)
      .refine((tiers) => Object.keys(tiers).length > 0, 'must have a price'),
  }),
]);

const Speed = z.number().min(0.25).max(4);

const MusicConstraints = z.strictObject({
  supportsLyrics: z.boolean().default(false),
  lyricsRequired: z.boolean().default(false),
  supportsLyricsOptimizer: z.boolean().default(false),
  supportsForceInstrumental: z.boolean().default(false),
  supportsLoop: z.boolean().default(false),
  supportsLanguageCode: z.boolean().default(false),
  supportsSpeed: z.boolean().default(false),
  minSpeed: Speed.default(0.25),
  maxSpeed: Speed.default(4),
  voices: Names(z.string().min(1)).default([]),
  /** The durations that requests may choose from; without any, all from the shortest to the longest. */
  durationOptions: z.array(Seconds).default([]),
  minDuration: Seconds.default(1),
  maxDuration: Seconds.default(240),
  defaultDuration: Seconds.default(60),
  minPromptLength: PositiveCount.default(10),
  promptCharacterLimit: PositiveCount.max(20_000).default(2_000),
  lyricsCharacterLimit: PositiveCount.max(20_000).default(3_000),
});

/** The fields of a music model in addition to those of every model. */
export const musicFields = {
  type: z.literal('music'),
  constraints: MusicConstraints.prefault({}),
  pricing: MusicPricing,
  ...jobTimes,
};

type MusicFields = z.infer<z.ZodObject<typeof musicFields>>;

/** Reports durations outside their bounds or without a price. */
export function checkMusicPrices({ constraints, pricing }: MusicFields, faults: Faults): void {
  const { minDuration, maxDuration, defaultDuration, durationOptions } = constraints;
  const isAllowed = (seconds: number): boolean => seconds >= minDuration && seconds <= maxDuration;
  const path = ['constraints', 'defaultDuration'];
  const offered = durationOptions.length === 0 || durationOptions.includes(defaultDuration);
  if (!offered || !isAllowed(defaultDuration) || !durationOptions.every(isAllowed))
    faults.addIssue({ code: 'custom', path, message: 'durations must be options between the bounds' });
  const longest = 'durations' in pricing ? Math.max(...Object.keys(pricing.durations).map(Number)) : Infinity;
  if (longest < maxDuration)
    faults.addIssue({
      code: 'custom',
      path: ['pricing', 'durations'],
      message: `needs a price for ${maxDuration} seconds`,
    });
}

/** What a video costs depends on this. */
export interface VideoMeasure {
  readonly seconds: number;
  /** Absent if the model has none. */
  readonly resolution: string | undefined;
  readonly hasAudio: boolean;
}

/** What a track costs depends on this. */
export interface MusicMeasure {
  readonly seconds: number;
  /** Code points of the prompt and the lyrics. */
  readonly characters: number;
}

/** A price, and how many of its units are sold. */
export interface PricedUnits {
  readonly price: Price;
  readonly units: number;
}

const MS_PER_SECOND = 1_000;
const MILLION = 1_000_000n;

/** The one price of a video: for its quote, its hold and its charge. */
export function videoPrice(
  { id, pricing }: Pick<VideoFields, 'pricing'> & { readonly id: string },
  { seconds, resolution, hasAudio }: VideoMeasure,
): PricedUnits {
  const prices = (hasAudio ? pricing.perSecondWithAudio : undefined) ?? pricing.perSecond;
  const usd = typeof prices === 'number' ? prices : prices[resolution ?? ''];
  if (usd === undefined) throw new RangeError(`${id} has no price for ${String(resolution)}`);
  const tail = [...(resolution === undefined ? [] : [resolution]), ...(hasAudio ? ['audio'] : [])];
  return {
    price: {
      sku: [id, 'video', ...tail, 'second'].join('-'),
      unit: 'millisecond',
      priceNanoPerMillion: (usdToNano(usd) * MILLION) / BigInt(MS_PER_SECOND),
    },
    units: seconds * MS_PER_SECOND,
  };
}

/** The one price of a track: for its quote, its hold and its charge. */
export function musicPrice(
  { id, pricing }: Pick<MusicFields, 'pricing'> & { readonly id: string },
  { seconds, characters }: MusicMeasure,
): PricedUnits {
  const track = (usd: number, tail = ''): PricedUnits => ({
    price: { sku: `${id}-music${tail}-track`, unit: 'track', priceNanoPerMillion: usdToNano(usd) * MILLION },
    units: 1,
  });
  if ('generation' in pricing) return track(pricing.generation);
  if ('durations' in pricing) {
    const tiers = Object.entries(pricing.durations).map(([text, usd]) => ({ longest: Number(text), usd }));
    const [tier] = tiers
      .filter(({ longest }) => longest >= seconds)
      .toSorted((a, b) => a.longest - b.longest);
    if (!tier) throw new RangeError(`${id} has no price for ${seconds} seconds`);
    return track(tier.usd, `-${tier.longest}s`);
  }
  if ('perSecond' in pricing)
    return {
      price: {
        sku: `${id}-music-second`,
        unit: 'millisecond',
        priceNanoPerMillion: (usdToNano(pricing.perSecond) * MILLION) / BigInt(MS_PER_SECOND),
      },
      units: seconds * MS_PER_SECOND,
    };
  return {
    price: {
      sku: `${id}-music-mchar`,
      unit: 'character',
      priceNanoPerMillion: usdToNano(pricing.perThousandCharacters) * 1_000n,
    },
    units: characters,
  };
}
