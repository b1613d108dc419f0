import { z } from 'zod';

const Usd = z.number().nonnegative().max(1_000_000);
const PositiveCount = z.int().positive();

/** Sizes of images: about 1, 4 and 16 megapixels. */
export const IMAGE_RESOLUTIONS = ['1K', '2K', '4K'] as const;
export type ImageResolution = (typeof IMAGE_RESOLUTIONS)[number];

export const IMAGE_QUALITIES = ['low', 'medium', 'high'] as const;
type ImageQuality = (typeof IMAGE_QUALITIES)[number];

/** The most images of one request. Source: OpenAI's limit. */
export const IMAGES_AT_MOST = 10;

/** The longest prompt of any model, in characters. Source: the public interface. */
export const IMAGE_PROMPT_CHARS = 32_768;

const Resolution = z.enum(IMAGE_RESOLUTIONS);
const Quality = z.enum(IMAGE_QUALITIES);

/** Width to height, such as `16:9`. A YAML 1.1 writer must quote it. */
const AspectRatio = z.string().regex(/^[1-9]\d?:[1-9]\d?$/, 'must be a ratio such as "16:9"');

const Names = <Name extends z.ZodType<string>>(name: Name) =>
  z
    .array(name)
    .min(1)
    .refine((names) => new Set(names).size === names.length, 'must not repeat a value');

/** What requests may choose, in addition to the prompt. */
const choices = {
  resolutions: Names(Resolution).optional(),
  /** Default: the first of them. */
  defaultResolution: Resolution.optional(),
  qualities: Names(Quality).optional(),
  /** Without it, the backend chooses for requests without a quality. */
  defaultQuality: Quality.optional(),
};

const ImageConstraints = z.strictObject({
  promptCharacterLimit: PositiveCount.max(IMAGE_PROMPT_CHARS).default(7_500),
  /** Sampling steps. Without them, the steps of requests are ignored. */
  steps: z.strictObject({ default: PositiveCount.max(1_000), max: PositiveCount.max(1_000) }).optional(),
  /** Width and height are multiples of it. */
  widthHeightDivisor: PositiveCount.max(256).default(8),
  /** The longest side of an image whose request gives its pixels. */
  maxSide: PositiveCount.max(8_192).default(1_280),
  /** Requests to a model with ratios choose one of them; to others, they give the pixels. */
  aspectRatios: Names(AspectRatio).optional(),
  /** Default: the first of them. */
  defaultAspectRatio: AspectRatio.optional(),
  ...choices,
  /** The most images of one request. */
  maxImages: PositiveCount.max(IMAGES_AT_MOST).default(IMAGES_AT_MOST),
});

/** The most images that an edit may start from. Source: OpenAI's limit. */
export const INPUT_IMAGES_AT_MOST = 16;

/** USD per image. A price by quality wins over one by resolution, which wins over the one for all images. */
const tiers = {
  resolutions: z.partialRecord(Resolution, Usd).optional(),
  quality: z.partialRecord(Resolution, z.partialRecord(Quality, Usd)).optional(),
};

/** The text model that rewrites prompts for requests with `enhance_prompt`, which are refused without it. */
const promptModel = z.string().min(1).optional();

/** The fields of a model that makes images, in addition to those of every model. */
export const imageFields = {
  type: z.literal('image'),
  promptModel,
  constraints: ImageConstraints.prefault({}),
  pricing: z.strictObject({ generation: Usd.optional(), ...tiers }),
};

export type ImageFields = z.infer<z.ZodObject<typeof imageFields>>;

/** The fields of a model that edits images, in addition to those of every model. */
export const editFields = {
  type: z.literal('inpaint'),
  promptModel,
  constraints: z
    .strictObject({
      ...ImageConstraints.omit({ steps: true }).shape,
      /** The most images that an edit starts from. */
      maxInputImages: PositiveCount.max(INPUT_IMAGES_AT_MOST).default(1),
      /** Whether a mask may say what to change. */
      supportsMask: z.boolean().default(false),
    })
    .prefault({}),
  pricing: z.strictObject({
    inpaint: Usd.optional(),
    ...tiers,
    /** USD per further image that an edit starts from. Without it, further images are free. */
    inputImages: z
      .strictObject({
        included: z.int().nonnegative().max(INPUT_IMAGES_AT_MOST).default(1),
        additional: Usd,
      })
      .optional(),
  }),
};

export type EditFields = z.infer<z.ZodObject<typeof editFields>>;

/** The fields of a model that enlarges images, in addition to those of every model. */
export const upscaleFields = {
  type: z.literal('upscale'),
  /** USD per image: enlarged up to twice, and further. */
  pricing: z.strictObject({
    upscale: z
      .strictObject({ '2x': Usd, '4x': Usd })
      // An image whose scale is reduced costs at most what was held for it.
      .refine((prices) => prices['4x'] >= prices['2x'], {
        path: ['4x'],
        message: '4x must cost at least as much as 2x',
      }),
  }),
};

/** What the price of an image depends on. */
export interface ImageTier {
  readonly resolution?: ImageResolution | undefined;
  readonly quality?: ImageQuality | undefined;
}

interface ImagePricing extends Pick<ImageFields['pricing'], keyof typeof tiers> {
  /** The price of every image that has no other. */
  readonly generation?: number | undefined;
}

/** The price of an image in USD; `undefined` if it has none. */
export function imageUsd(pricing: ImagePricing, { resolution, quality }: ImageTier): number | undefined {
  const { generation, resolutions, quality: byQuality } = pricing;
  if (resolution === undefined) return generation;
  const fine = quality === undefined ? undefined : byQuality?.[resolution]?.[quality];
  return fine ?? resolutions?.[resolution] ?? generation;
}

interface Faults {
  readonly addIssue: (issue: { code: 'custom'; path: (string | number)[]; message: string }) => void;
}

/** The same for a model that edits images. */
export function checkEditModel({ constraints, pricing }: EditFields, faults: Faults): void {
  const { inpaint: generation, inputImages: _extra, ...rest } = pricing;
  checkImageModel({ constraints, pricing: { generation, ...rest } }, faults);
}

/** Reports defaults that are no options, images without a price, and prices without images. */
export function checkImageModel(
  { constraints, pricing }: Pick<ImageFields, 'constraints' | 'pricing'>,
  faults: Faults,
): void {
  const report = (path: (string | number)[], message: string): void =>
    faults.addIssue({ code: 'custom', path, message });
  const { resolutions, qualities, defaultQuality, aspectRatios, steps } = constraints;
  const defaults = [
    ['defaultResolution', constraints.defaultResolution, resolutions],
    ['defaultQuality', defaultQuality, qualities],
    ['defaultAspectRatio', constraints.defaultAspectRatio, aspectRatios],
  ] as const;
  for (const [name, value, options = []] of defaults)
    if (value !== undefined && !options.some((option) => option === value))
      report(['constraints', name], `is not an option: ${value}`);
  if (steps && steps.default > steps.max) report(['constraints', 'steps', 'default'], 'must not exceed max');
  for (const resolution of resolutions ?? [undefined]) {
    const offered = defaultQuality === undefined ? [undefined, ...(qualities ?? [])] : (qualities ?? []);
    for (const quality of offered)
      if (imageUsd(pricing, { resolution, quality }) === undefined)
        report(
          ['pricing'],
          `needs a price for ${['an image', resolution, quality].filter(Boolean).join(' ')}`,
        );
  }
  for (const name of ['resolutions', 'quality'] as const)
    for (const resolution of Object.keys(pricing[name] ?? {}))
      if (!resolutions?.some((each) => each === resolution))
        report(['pricing', name, resolution], 'is not among the resolutions');
}
