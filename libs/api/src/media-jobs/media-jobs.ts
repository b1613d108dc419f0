import { z } from 'zod';

const Model = z.string().min(1).max(200).describe('The id or an alias of a model.');

/** From 1 to 3600. */
const SECONDS = /^([1-9]\d{0,2}|[12]\d{3}|3[0-5]\d{2}|3600)$/;

/** Seconds as a number, or as text, which some clients send. */
const Seconds = z.union([
  z.int().min(1).max(3_600),
  z.string().regex(SECONDS, 'must be whole seconds from 1 to 3600').transform(Number),
]);

const CallbackUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that starts with https:// or http://' })
  .max(2_048)
  .optional()
  .describe(
    'Gets `video.completed` or `music.completed`, or else `.failed`, when the job has ended, delivered and signed as those of the webhook endpoint of the account with the same origin.',
  )
  .meta({ example: 'https://example.com/hooks/job-7' });

const videoOptions = {
  duration: z.string().max(20).describe("One of the model's `durations`, such as `5s`."),
  aspect_ratio: z
    .string()
    .max(10)
    .optional()
    .describe("One of the model's `aspect_ratios`, such as `16:9`; required if it has any."),
  resolution: z
    .string()
    .max(10)
    .optional()
    .describe("One of the model's `resolutions`, such as `720p`. Default: the first of them."),
  audio: z
    .boolean()
    .optional()
    .describe('Whether the video has sound, for models with `audio_configurable`. Default: true.'),
};

const InputUrl = z.string().min(1);
const FOR_INPUTS = 'for models that have this field in `inputs`';

/** What a video is made from, in addition to its first image. */
const videoInputs = {
  end_image_url: InputUrl.optional().describe(`The image to end with, ${FOR_INPUTS}.`),
  reference_image_urls: z
    .array(InputUrl)
    .min(1)
    .max(30)
    .optional()
    .describe(`Images of what is to be seen, ${FOR_INPUTS}, which says how many.`),
  video_url: InputUrl.optional().describe(`The video to begin from, ${FOR_INPUTS}.`),
  reference_video_urls: z
    .array(InputUrl)
    .min(1)
    .max(10)
    .optional()
    .describe(`Videos of what is to be seen, ${FOR_INPUTS}, which says how many.`),
};

/** What a video would cost depends on this. */
export const VideoQuote = z.looseObject({ model: Model, ...videoOptions, ...videoInputs });

/** Of fields that are not listed here, the model server gets those that it may, as text. */
export const VideoOrder = z.looseObject({
  model: Model,
  prompt: z.string().min(1).max(20_000).describe("At most the model's `prompt_character_limit`."),
  negative_prompt: z.string().max(20_000).optional(),
  ...videoOptions,
  image_url: z
    .string()
    .min(1)
    .optional()
    .describe('The image to begin with, as a data URL or a public URL; required by image-to-video models.'),
  ...videoInputs,
  anon_user_id: z.string().max(128).optional().describe('Accepted but not used.'),
  callback_url: CallbackUrl,
});

export const MusicQuote = z.looseObject({
  model: Model,
  duration_seconds: Seconds.optional(),
  character_count: z
    .int()
    .min(0)
    .max(40_000)
    .optional()
    .describe('Of the prompt and the lyrics together, for models that are priced by characters.'),
});

/** Each option is for models with its flag only. */
export const MusicOrder = z.looseObject({
  model: Model,
  prompt: z.string().min(1).max(20_000),
  lyrics_prompt: z.string().min(1).max(20_000).optional(),
  duration_seconds: Seconds.optional(),
  force_instrumental: z.boolean().optional(),
  lyrics_optimizer: z.boolean().optional(),
  loop: z.boolean().optional(),
  voice: z.string().min(1).max(200).optional(),
  language_code: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language such as en')
    .optional(),
  speed: z.number().min(0.25).max(4).optional(),
  callback_url: CallbackUrl,
});

export const MediaQuoteReply = z.object({ quote: z.number().describe('USD; a DIEM buys as much.') });

export const VideoOrderReply = z.object({
  model: z.string(),
  queue_id: z.uuid().describe('For `retrieve` and `complete`.'),
  download_url: z
    .url()
    .optional()
    .describe(
      'Where anyone who has this URL may download the result, once the job is completed and until the result is deleted, for at most a day. Present if the operator offers it.',
    ),
});

export const MusicOrderReply = z.object({ ...VideoOrderReply.shape, status: z.literal('QUEUED') });

export const MediaRetrieve = z.strictObject({
  model: Model,
  queue_id: z.string().min(1).max(100),
  delete_media_on_completion: z
    .boolean()
    .default(false)
    .describe('Deletes the media once it has been sent completely.'),
});

export const MediaProgress = z.object({
  status: z.literal('PROCESSING'),
  average_execution_time: z.int().describe('Milliseconds that four of five such jobs took at most.'),
  execution_duration: z.int().describe('Milliseconds since the request.'),
});

export const MediaComplete = z.strictObject({ model: Model, queue_id: z.string().min(1).max(100) });

export const MediaCompleteReply = z.object({ success: z.boolean() });

export type VideoQuote = z.infer<typeof VideoQuote>;
export type VideoOrder = z.infer<typeof VideoOrder>;
export type VideoOrderReply = z.infer<typeof VideoOrderReply>;
export type MusicOrderReply = z.infer<typeof MusicOrderReply>;
export type MusicQuote = z.infer<typeof MusicQuote>;
export type MusicOrder = z.infer<typeof MusicOrder>;
export type MediaRetrieve = z.infer<typeof MediaRetrieve>;
export type MediaProgress = z.infer<typeof MediaProgress>;
export type MediaComplete = z.infer<typeof MediaComplete>;
