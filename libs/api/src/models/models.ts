import { SERVICE_TIERS } from '@svc/contracts/money';
import { z } from 'zod';
import {
  SPEECH_FORMATS,
  Capabilities,
  MODEL_TYPES,
  IMAGE_QUALITIES,
  IMAGE_RESOLUTIONS,
} from '@svc/contracts/catalog';

const Price = z.object({ usd: z.number(), diem: z.number() });
const Rates = {
  input: Price,
  output: Price,
  cache_input: Price.optional(),
  cache_write: Price.optional(),
  cache_write_hour: Price.optional().describe('Of tokens that are written to a cache for an hour.'),
};

/** USD per million tokens, and the same in DIEM. */
export const PricingView = z.object({
  ...Rates,
  extended: z
    .object({ context_token_threshold: z.int(), ...Rates })
    .optional()
    .describe('The rates for the whole request if its prompt has more tokens than the threshold.'),
  service_tiers: z
    .partialRecord(z.enum(SERVICE_TIERS), z.object(Rates))
    .optional()
    .describe(
      'The tiers of service beside the default one, with their rates; those beyond a threshold change likewise.',
    ),
});

const Default = z.object({ default: z.number() });

/** The default sampling parameters of a model. */
export const ConstraintsView = z.object({
  temperature: Default,
  top_p: Default,
  frequency_penalty: Default.optional(),
  presence_penalty: Default.optional(),
  repetition_penalty: Default.optional(),
});

export const DeprecationView = z.object({
  autoRemap: z.boolean().describe('Whether requests are served by the replacement after the removal.'),
  startsAt: z.string().optional().describe('ISO 8601. Responses carry a warning from then on.'),
  date: z.string().describe('ISO 8601. The model is deprecated from then on.'),
  removesAt: z.string().describe('ISO 8601. The model is removed then.'),
  replacementModelId: z.string().optional(),
});

const spec = {
  name: z.string(),
  description: z.string().optional(),
  modelSource: z.string().optional().describe('Where the model comes from.'),
  privacy: z.enum(['private', 'anonymized']),
  betaModel: z.boolean(),
  offline: z.boolean(),
  uncensored: z.literal(true).optional().describe('Present only if true.'),
  regionRestrictions: z
    .array(z.string())
    .optional()
    .describe('Countries where the model is not offered (ISO 3166-1).'),
  traits: z.array(z.string()).describe('Names that currently select this model, such as `default`.'),
  deprecation: DeprecationView.optional(),
};

export const ModelSpec = z.object({
  ...spec,
  availableContextTokens: z.int(),
  maxCompletionTokens: z.int(),
  capabilities: Capabilities,
  constraints: ConstraintsView,
  pricing: PricingView,
});

const Free = z.record(z.string(), z.unknown());

/** A model that ranks documents or judges content. */
export const OtherModelSpec = z.object({
  ...spec,
  pricing: z
    .object({ input: Price.optional(), perSearch: Price.optional() })
    .describe('Per million tokens, or per search.'),
});

const model = {
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds.'),
  owned_by: z.string(),
};

export const TextModelView = z.object({
  ...model,
  type: z.literal('text'),
  context_length: z.int().describe('The same as `model_spec.availableContextTokens`.'),
  model_spec: ModelSpec,
});

export const OtherModelView = z.object({
  ...model,
  type: z.enum(MODEL_TYPES).extract(['rerank', 'moderation']),
  model_spec: OtherModelSpec,
});

export const EmbeddingModelView = z.object({
  ...model,
  type: z.literal('embedding'),
  model_spec: z.object({
    ...spec,
    embeddingDimensions: z.int().describe('The length of the vectors.'),
    maxInputTokens: z.int().describe('The maximum number of tokens per text.'),
    supportsCustomDimensions: z.boolean().describe('Whether requests may choose `dimensions`.'),
    pricing: z.object({ input: Price, output: Price.optional() }).describe('Per million tokens.'),
  }),
});

export const SpeechModelView = z.object({
  ...model,
  type: z.literal('tts'),
  model_spec: z.object({
    ...spec,
    voices: z.array(z.string()),
    default_voice: z.string(),
    supported_formats: z.array(z.enum(SPEECH_FORMATS)),
    default_format: z.enum(SPEECH_FORMATS),
    supports_custom_voice_id: z
      .boolean()
      .describe('Whether requests may name other voices, which only the model knows.'),
    voice_cloning: z
      .object({
        mode: z.literal('zero_shot'),
        accepted_formats: z.array(z.string()),
        min_sample_seconds: z.number(),
        max_sample_seconds: z.number(),
        retention_days: z.int(),
      })
      .optional()
      .describe('For models that speak in voices of `POST /audio/voices`.'),
    pricing: z.object({ input: Price }).describe('Per million characters.'),
  }),
});

export const MusicModelView = z.object({
  ...model,
  type: z.literal('music'),
  model_spec: z.object({
    ...spec,
    supports_lyrics: z.boolean(),
    lyrics_required: z.boolean(),
    supports_lyrics_optimizer: z.boolean(),
    supports_force_instrumental: z.boolean(),
    supports_loop: z.boolean(),
    supports_language_code: z.boolean(),
    supports_speed: z.boolean(),
    min_speed: z.number(),
    max_speed: z.number(),
    voices: z.array(z.string()),
    duration_options: z
      .array(z.int())
      .describe('Seconds. If empty, any number from `min_duration` to `max_duration`.'),
    min_duration: z.int(),
    max_duration: z.int(),
    default_duration: z.int(),
    min_prompt_length: z.int(),
    prompt_character_limit: z.int(),
    lyrics_character_limit: z.int(),
    pricing: Free.describe('By name; every leaf is `{usd, diem}`.'),
  }),
});

export const TranscriptionModelView = z.object({
  ...model,
  type: z.literal('asr'),
  model_spec: z.object({
    ...spec,
    maxSeconds: z.number().describe('The longest audio of a request.'),
    pricing: z.object({ per_audio_second: Price }),
  }),
});

const Resolution = z.enum(IMAGE_RESOLUTIONS);
const Quality = z.enum(IMAGE_QUALITIES);

/** The prices of images that depend on their size or quality. */
const imageTiers = {
  resolutions: z.partialRecord(Resolution, Price).optional(),
  quality: z.partialRecord(Resolution, z.partialRecord(Quality, Price)).optional(),
};

/** What requests for images may choose. */
const imageChoices = {
  promptCharacterLimit: z.int(),
  resolutions: z.array(Resolution).optional(),
  defaultResolution: Resolution.optional(),
  qualities: z.array(Quality).optional(),
  defaultQuality: Quality.optional(),
};

export const ImageModelView = z.object({
  ...model,
  type: z.literal('image'),
  model_spec: z.object({
    ...spec,
    supportsStyleReferences: z.boolean(),
    supportsWebSearch: z.boolean(),
    supportsOptimizePromptThinking: z.boolean(),
    supportsEnhancePrompt: z.boolean().describe('Whether requests may have `enhance_prompt`.'),
    constraints: z.object({
      ...imageChoices,
      steps: z
        .object({ default: z.int(), max: z.int() })
        .describe('Both are 0 if requests cannot choose them.'),
      widthHeightDivisor: z.int(),
      aspectRatios: z.array(z.string()).optional(),
      defaultAspectRatio: z.string().optional(),
    }),
    pricing: z
      .object({ generation: Price.optional(), ...imageTiers })
      .describe('Per image. A price by quality wins over one by resolution, and that over `generation`.'),
  }),
});

export const EditModelView = z.object({
  ...model,
  type: z.literal('inpaint'),
  model_spec: z.object({
    ...spec,
    supportsEnhancePrompt: z.boolean().describe('Whether requests may have `enhance_prompt`.'),
    constraints: z.object({
      ...imageChoices,
      widthHeightDivisor: z.int(),
      aspectRatios: z.array(z.string()).optional(),
      defaultAspectRatio: z.string().optional(),
      maxInputImages: z.int().describe('The most images that an edit starts from.'),
      combineImages: z.boolean().describe('Whether that is more than one.'),
      supportsMask: z.boolean(),
    }),
    pricing: z
      .object({
        inpaint: Price.optional(),
        ...imageTiers,
        inputImages: z
          .object({ included: z.int(), additional: Price })
          .optional()
          .describe('For each image that an edit starts from beyond those that are included.'),
      })
      .describe('Per image. A price by quality wins over one by resolution, and that over `inpaint`.'),
  }),
});

export const VideoModelView = z.object({
  ...model,
  type: z.literal('video'),
  model_spec: z.object({
    ...spec,
    constraints: z.object({
      model_type: z.enum(['text-to-video', 'image-to-video', 'video']),
      aspect_ratios: z.array(z.string()),
      resolutions: z.array(z.string()),
      durations: z.array(z.string()).describe('Such as `5s`.'),
      audio: z.boolean().describe('Whether its videos have sound.'),
      audio_configurable: z.boolean().describe('Whether requests may choose that.'),
      prompt_character_limit: z.int(),
      inputs: z
        .record(z.string(), z.int())
        .describe('The fields with further files that requests may have, and the most of each.'),
    }),
  }),
});

export const UpscaleModelView = z.object({
  ...model,
  type: z.literal('upscale'),
  model_spec: z.object({
    ...spec,
    pricing: z
      .object({ upscale: z.object({ '2x': Price, '4x': Price }) })
      .describe('Per image: enlarged up to twice, and further.'),
  }),
});

export const ModelView = z.discriminatedUnion('type', [
  TextModelView,
  EmbeddingModelView,
  SpeechModelView,
  MusicModelView,
  TranscriptionModelView,
  ImageModelView,
  EditModelView,
  VideoModelView,
  UpscaleModelView,
  OtherModelView,
]);

const ListType = z.enum([...MODEL_TYPES, 'all', 'code']);

export const ModelList = z.object({ object: z.literal('list'), type: ListType, data: z.array(ModelView) });

/** Names, each with the id of its model. */
export const ModelNames = z.object({
  object: z.literal('list'),
  type: ListType,
  data: z.record(z.string(), z.string()),
});

export const ModelQuery = z.object({
  type: ListType.default('text').describe('`code` means text models that are good at code.'),
});

export const ModelParams = z.object({
  model: z.string().min(1).describe('An id, an alias or a trait. Slashes need no escaping.'),
});

export type ModelList = z.infer<typeof ModelList>;
export type ModelNames = z.infer<typeof ModelNames>;
export type ModelQuery = z.infer<typeof ModelQuery>;
export type ModelView = z.infer<typeof ModelView>;
export type TextModelView = z.infer<typeof TextModelView>;
export type EmbeddingModelView = z.infer<typeof EmbeddingModelView>;
export type SpeechModelView = z.infer<typeof SpeechModelView>;
export type MusicModelView = z.infer<typeof MusicModelView>;
export type TranscriptionModelView = z.infer<typeof TranscriptionModelView>;
export type ImageModelView = z.infer<typeof ImageModelView>;
export type EditModelView = z.infer<typeof EditModelView>;
export type VideoModelView = z.infer<typeof VideoModelView>;
export type UpscaleModelView = z.infer<typeof UpscaleModelView>;
export type OtherModelView = z.infer<typeof OtherModelView>;
export type PricingView = z.infer<typeof PricingView>;
