import { z } from 'zod';
import {
  IMAGES_AT_MOST,
  IMAGE_PROMPT_CHARS,
  IMAGE_QUALITIES,
  IMAGE_RESOLUTIONS,
  INPUT_IMAGES_AT_MOST,
} from '@svc/contracts/catalog';
import { Cost } from '../chat/chat-response.js';
import { FormFile } from '../route/form-file.js';

const IMAGE_FORMATS = ['webp', 'png', 'jpeg'] as const;

/** Source: the public interface. */
const VARIANTS_AT_MOST = 4;
const SEED_AT_MOST = 999_999_999;

/** No image has a longer side. */
const SIDE_AT_MOST = 8_192;

/** The options of a request that does not set them. */
export const IMAGE_DEFAULTS = { count: 1, format: 'webp', outputFormat: 'png', scale: 2 } as const;

const UNUSED = 'Accepted but not used.';

const OPAQUE =
  'background must be opaque or auto: models make no transparent one, but POST /image/background-remove does';

const Prompt = z.string().min(1).max(IMAGE_PROMPT_CHARS);
const Side = z.int().min(1).max(SIDE_AT_MOST).nullish();

/** Rejects an option that is not supported: ignoring it would look like consent. */
const off = (message: string) => z.literal(false, { error: message }).nullish();
const absent = (message: string) => z.null({ error: message }).optional();

/** An image to make, with the parameters of this service. */
export const ImageRequest = z.looseObject({
  model: z
    .string({
      error: ({ input }) => (input === undefined ? 'model is required' : 'model must be a string'),
    })
    .min(1)
    .max(256)
    .describe('The id, an alias or a trait of an image model.'),
  prompt: Prompt.describe('Models have limits of their own: `promptCharacterLimit`.'),
  negative_prompt: z.string().max(IMAGE_PROMPT_CHARS).nullish().describe('What the image should not show.'),
  width: Side.describe(
    'For models without `aspectRatios`. A multiple of `widthHeightDivisor`, at most 1280 unless the model allows more. Default: 1024.',
  ),
  height: Side.describe('As `width`.'),
  aspect_ratio: z.string().max(16).nullish().describe('One of the `aspectRatios` of the model.'),
  resolution: z
    .enum(IMAGE_RESOLUTIONS)
    .nullish()
    .describe(
      'One of the `resolutions` of the model; ignored by models without any. The price depends on it.',
    ),
  quality: z
    .enum(IMAGE_QUALITIES)
    .nullish()
    .describe('One of the `qualities` of the model. The price depends on it.'),
  cfg_scale: z.number().gt(0).max(20).nullish().describe('How closely the image follows the prompt.'),
  steps: z.int().min(1).nullish().describe('Sampling steps, for models that have them.'),
  seed: z.int().min(-SEED_AT_MOST).max(SEED_AT_MOST).nullish().describe('The seed of the first variant.'),
  variants: z
    .int()
    .min(1)
    .max(VARIANTS_AT_MOST)
    .nullish()
    .meta({ default: IMAGE_DEFAULTS.count })
    .describe('How many images. Each is charged, and counts as a request for the limits.'),
  style_preset: z.string().max(64).nullish().describe('A name from `GET /image/styles`.'),
  style_references: absent('style_references are not supported by this deployment'),
  lora_strength: z.int().min(0).max(100).nullish().describe(UNUSED),
  enhance_prompt: z
    .boolean()
    .nullish()
    .describe(
      'Has a text model rewrite the prompt, for models with `supportsEnhancePrompt`. Its tokens are charged in addition, and `x-svc-enhanced-prompt` of the response has the new prompt. Prompts of more than 1,000 characters stay as they are.',
    ),
  disable_prompt_optimization_thinking: z.boolean().nullish().describe(UNUSED),
  enable_web_search: off('enable_web_search is not supported for images'),
  format: z.enum(IMAGE_FORMATS).nullish().meta({ default: IMAGE_DEFAULTS.format }),
  return_binary: z.boolean().nullish().describe('Whether the response is the image itself instead of JSON.'),
  embed_exif_metadata: z
    .boolean()
    .nullish()
    .describe('Whether the file contains the prompt and the model, as EXIF. It has no other metadata.'),
  hide_watermark: z.boolean().nullish().describe('Accepted but not used: images have no watermark.'),
  safe_mode: z.boolean().nullish().describe('Accepted but not used: images are not blurred.'),
  anon_user_id: z.string().max(128).nullish().describe(UNUSED),
  inpaint: absent('inpaint was removed. Edit images with POST /image/edit.'),
});

const ImageSize = z
  .string()
  .regex(/^(auto|[1-9]\d{1,3}x[1-9]\d{1,3})$/, 'must be `auto`, or a width and a height such as 1024x1024');

/** An image to make, with OpenAI's parameters. */
export const ImageGenerationRequest = z.looseObject({
  prompt: ImageRequest.shape.prompt,
  model: z
    .string()
    .min(1)
    .max(256)
    .nullish()
    .describe('The id, an alias or a trait of an image model. Default: the trait `default`.'),
  n: z
    .int()
    .min(1)
    .max(IMAGES_AT_MOST)
    .nullish()
    .meta({ default: IMAGE_DEFAULTS.count })
    .describe('How many images. Each is charged, and counts as a request for the limits.'),
  size: ImageSize.nullish().describe(
    "The nearest size that the model has is made. Default: `auto`, the model's own default, such as 1024x1024.",
  ),
  response_format: z
    .enum(['b64_json', 'url'])
    .nullish()
    .describe('`url` is a data URL, since images are not stored. Default: `b64_json`.'),
  output_format: z.enum(IMAGE_FORMATS).nullish().meta({ default: IMAGE_DEFAULTS.outputFormat }),
  output_compression: z
    .int()
    .min(0)
    .max(100)
    .nullish()
    .describe('The quality of `jpeg` and `webp` in percent.'),
  quality: z
    .enum(['auto', ...IMAGE_QUALITIES, 'hd', 'standard'])
    .nullish()
    .describe('`low`, `medium` or `high` for models with `qualities`; otherwise not used.'),
  moderation: z.enum(['auto', 'low']).nullish().describe(UNUSED),
  background: z
    .enum(['opaque', 'auto'], { error: OPAQUE })
    .nullish()
    .describe('`opaque` and `auto`: the background that the model makes.'),
  style: z.enum(['vivid', 'natural']).nullish().describe(UNUSED),
  user: z
    .string()
    .max(512)
    .nullish()
    .describe('The end user whose request it is; only a hash of it is stored.'),
  stream: off('stream is not supported for images: send the request without it'),
  partial_images: z.literal(0, { error: 'partial_images is not supported: images are sent whole' }).nullish(),
  safe_mode: absent('safe_mode is a parameter of POST /image/generate; here it is called moderation'),
});

/** Characters of 25 MB as base64 in a data URL. */
const IMAGE_CHARS = 34_954_000;

const InputImage = z.union([FormFile, z.string().min(1).max(IMAGE_CHARS)]);

/** An image in the JSON form of OpenAI's edits. */
const LinkedImage = z.object({
  image_url: z.string().min(1).max(IMAGE_CHARS),
  file_id: absent('file_id is not supported: files are not stored here. Send image_url.'),
});

/** Images to change, with OpenAI's parameters. */
export const ImageEditsRequest = ImageGenerationRequest.omit({ style: true }).extend({
  image: z
    .union([InputImage, z.array(InputImage).min(1).max(INPUT_IMAGES_AT_MOST)])
    .nullish()
    .describe(
      'The image to change, or several: files (in a form, `image` or `image[]`), base64, data URLs or public URLs. Either this or `images` is required.',
    ),
  images: z
    .array(LinkedImage)
    .min(1)
    .max(INPUT_IMAGES_AT_MOST)
    .nullish()
    .describe('The same in JSON: each `image_url` is a data URL or a public URL.'),
  mask: z
    .union([InputImage, LinkedImage])
    .nullish()
    .describe('A PNG whose transparent pixels are to be changed, for models that support it.'),
  model: ImageGenerationRequest.shape.model.describe(
    'The id, an alias or a trait of an inpaint model. Default: the trait `default`.',
  ),
  size: ImageSize.nullish().describe(
    'The nearest size that the model has is made. Default: `auto`, the shape of the first image.',
  ),
  input_fidelity: z.enum(['high', 'low']).nullish().describe(UNUSED),
  safe_mode: absent('safe_mode is a parameter of POST /image/edit; here it is called moderation'),
});

/** How images are changed, with the parameters of this service. */
const edited = {
  prompt: ImageRequest.shape.prompt,
  aspect_ratio: z
    .string()
    .max(16)
    .nullish()
    .describe(
      '`auto`, the shape of the first image, or one of the `aspectRatios` of the model; if it has none, any such as `16:9`, from 1:4 to 4:1. Default: `auto`.',
    ),
  output_format: z
    .enum([...IMAGE_FORMATS, 'jpg'])
    .nullish()
    .describe('Default: `jpeg` for the resolutions 2K and 4K, otherwise `png`.'),
  enhance_prompt: ImageRequest.shape.enhance_prompt,
  safe_mode: ImageRequest.shape.safe_mode,
};

/** An image to change, with the parameters of this service. */
export const ImageEditRequest = z.looseObject({
  model: ImageEditsRequest.shape.model,
  modelId: z.string().min(1).max(256).nullish().describe('The earlier name of `model`, which wins.'),
  ...edited,
  image: InputImage.describe('The image to change: a file, base64, a data URL or a public URL.'),
  resolution: z
    .enum(IMAGE_RESOLUTIONS)
    .nullish()
    .describe('One of the `resolutions` of the model. The price depends on it.'),
  quality: absent('quality is a parameter of POST /image/multi-edit'),
});

/** Images to make one of, with the parameters of this service. */
export const ImageMultiEditRequest = z.looseObject({
  modelId: ImageEditsRequest.shape.model,
  ...edited,
  images: z
    .array(InputImage)
    .min(1)
    .max(INPUT_IMAGES_AT_MOST)
    .describe(
      'The images to start from, up to `maxInputImages` of the model: files, base64, data URLs or public URLs.',
    ),
  resolution: ImageRequest.shape.resolution,
  quality: ImageRequest.shape.quality,
  model: absent('model is a parameter of POST /image/edit; here it is called modelId'),
});

const Choice = z.string().min(1).max(256).nullish();

/** An image to enlarge. */
export const ImageUpscaleRequest = z.object({
  image: ImageEditRequest.shape.image,
  model: Choice.describe('The id, an alias or a trait of an upscale model. Default: the trait `default`.'),
  scale: z
    .number()
    .min(2)
    .max(4)
    .nullish()
    .meta({ default: IMAGE_DEFAULTS.scale })
    .describe('How many times as wide and as high; less if the result had more than 16,777,216 pixels.'),
  creativity: z.number().nullish().describe(UNUSED),
});

/** An image without its background. */
export const ImageCutoutRequest = z.object({
  image: InputImage.nullish().describe(
    'The image: a file, base64, a data URL or a public URL. Either this or `image_url` is required.',
  ),
  image_url: z.string().min(1).max(IMAGE_CHARS).nullish().describe('A public URL of the image.'),
  model: Choice.describe(
    'The id, an alias or a trait of an image model. Default: the trait `background-removal`.',
  ),
});

const Ms = z.number().nonnegative();

export const ImageReply = z.object({
  id: z.string(),
  images: z.array(z.string()).describe('Image files in base64.'),
  timing: z
    .object({
      inferenceDuration: Ms,
      inferencePreprocessingTime: Ms,
      inferenceQueueTime: Ms.describe('Always 0: waiting is part of `inferenceDuration`.'),
      total: Ms,
    })
    .describe('In milliseconds.'),
  cost: Cost,
});

export const ImageGenerationReply = z.object({
  created: z.int().describe('Unix seconds.'),
  data: z.array(z.object({ b64_json: z.string().optional(), url: z.string().optional() })),
  output_format: z.enum(IMAGE_FORMATS),
  size: z.string().describe('The width and height of the first image.'),
  cost: Cost,
});

export const ImageStyleList = z.object({ object: z.literal('list'), data: z.array(z.string()) });

export type ImageRequest = z.infer<typeof ImageRequest>;
export type ImageGenerationRequest = z.infer<typeof ImageGenerationRequest>;
export type ImageEditsRequest = z.infer<typeof ImageEditsRequest>;
export type ImageEditRequest = z.infer<typeof ImageEditRequest>;
export type ImageMultiEditRequest = z.infer<typeof ImageMultiEditRequest>;
export type ImageUpscaleRequest = z.infer<typeof ImageUpscaleRequest>;
export type ImageCutoutRequest = z.infer<typeof ImageCutoutRequest>;
export type ImageReply = z.infer<typeof ImageReply>;
export type ImageGenerationReply = z.infer<typeof ImageGenerationReply>;
export type ImageStyleList = z.infer<typeof ImageStyleList>;
