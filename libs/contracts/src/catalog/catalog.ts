import { z } from 'zod';
import { checkSpeechMembers, speechMembers, transcriptionMembers } from './audio-models.js';
import { Deprecation } from './deprecation.js';
import { ExtraFields, checkSalts } from './extra-fields.js';
import { Backend } from './backend.js';
import { checkEditModel, checkImageModel, editFields, imageFields, upscaleFields } from './image-models.js';
import { moderationFields } from './moderation-models.js';
import { Reasoning } from './reasoning.js';
import { CryptoRpc } from './rpc-networks.js';
import { SamplingDefaults } from './sampling-defaults.js';
import { Scraping, Search } from './search.js';
import { ServiceTiers } from './price-tiers.js';
import { checkEnclaves } from './tee-backends.js';
import { TokenPrices, checkMarkup, markupFields, withMarkup } from './token-prices.js';
import { checkMusicPrices, checkVideoPrices, musicFields, videoFields } from './video-models.js';

const Usd = z.number().nonnegative().max(1_000_000);
/** The price of one unit of an extra. */
const ExtraUsd = z.number().nonnegative().max(1_000);

const Extras = z.strictObject({
  webSearch: ExtraUsd,
  webPage: ExtraUsd,
  xSearch: ExtraUsd,
  textParser: ExtraUsd,
});

/** What is priced by the piece. */
export const EXTRAS = Object.keys(Extras.shape) as readonly (keyof typeof Extras.shape)[];
const PositiveCount = z.int().positive();

function haveOwnNames(backends: readonly { readonly name?: string | undefined }[]): boolean {
  const names = backends.map(({ name }, position) => name ?? `backend-${position + 1}`);
  return new Set(names).size === names.length;
}

export const Capabilities = z.strictObject({
  optimizedForCode: z.boolean().default(false),
  quantization: z
    .enum(['fp4', 'fp8', 'fp16', 'bf16', 'int8', 'int4', 'not-available'])
    .default('not-available'),
  supportsFunctionCalling: z.boolean().default(false),
  supportsAudioInput: z.boolean().default(false),
  supportsReasoning: z.boolean().default(false),
  supportsReasoningEffort: z.boolean().default(false),
  reasoningEffortOptions: z.array(z.string()).optional(),
  defaultReasoningEffort: z.string().optional(),
  supportsResponseSchema: z.boolean().default(false),
  supportsMultipleImages: z.boolean().default(false),
  maxImages: PositiveCount.optional(),
  maxVideos: PositiveCount.optional(),
  supportsVision: z.boolean().default(false),
  supportsVideoInput: z.boolean().default(false),
  supportsWebSearch: z.boolean().default(false),
  supportsLogProbs: z.boolean().default(false),
  supportsTeeAttestation: z.boolean().default(false),
  supportsE2EE: z.boolean().default(false),
  supportsXSearch: z.boolean().default(false),
});

export const MODEL_TYPES = [
  'asr',
  'embedding',
  'image',
  'music',
  'rerank',
  'text',
  'tts',
  'upscale',
  'inpaint',
  'moderation',
  'video',
] as const;

const TIERS = ['XS', 'S', 'M', 'L'] as const;

const offer = {
  id: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._/@:-]*$/,
      'must start with a letter or digit and contain only letters, digits and . _ / @ : -',
    ),
  name: z.string().min(1),
  description: z.string().optional(),
  modelSource: z.string().optional(),
  tier: z.enum(TIERS).default('L'),
  traits: z.array(z.string()).default([]),
  /** Names of other providers' models that map to this one. */
  aliases: z.array(z.string()).default([]),
  privacy: z.enum(['private', 'anonymized']).default('private'),
  betaModel: z.boolean().default(false),
  uncensored: z.boolean().default(false),
  /** ISO 3166-1 codes of countries in which it is not available. Published, not enforced. */
  regionRestrictions: z.array(z.string().regex(/^[A-Z]{2}$/)).default([]),
  deprecation: Deprecation.optional(),
  /** For paid accounts only. */
  paidOnly: z.boolean().default(false),
  offline: z.boolean().default(false),
  createdAt: z.iso.date().default('2026-01-01'),
  extraFields: ExtraFields,
  backends: z
    .array(Backend)
    .refine(haveOwnNames, 'must not contain two backends with the same name')
    .default([]),
};

const Limits = z.strictObject({ requestsPerMinute: PositiveCount, tokensPerMinute: PositiveCount });

/** System prompts inserted before the caller's. */
const HousePrompts = z.array(z.string().trim().min(1)).optional();

/** Vocabularies for counting tokens when a backend reports none: those of `gpt-tokenizer`. */
const TOKENIZERS = ['o200k_base', 'o200k_harmony', 'cl100k_base'] as const;

/** A text model. */
export const CatalogModel = z
  .strictObject({
    ...offer,
    type: z.literal('text').default('text'),
    contextTokens: PositiveCount,
    maxCompletionTokens: PositiveCount,
    pricing: TokenPrices,
    ...markupFields,
    /** Without one of these tiers, requests for it are served in the default one. */
    serviceTiers: ServiceTiers.optional(),
    capabilities: Capabilities.prefault({}),
    constraints: SamplingDefaults.prefault({}),
    reasoning: Reasoning.optional(),
    /**
     * The members that make its backends search by themselves; default: xAI's. For models with the capability
     * `supportsXSearch`; the addresses in the response's `citations` are its sources.
     */
    xSearch: z.strictObject({ members: z.record(z.string(), z.unknown()) }).optional(),
    /**
     * The model's own vocabulary, if it is one of these. Without it the tokens of a backend that reports none
     * are estimated.
     */
    tokenizer: z.enum(TOKENIZERS).optional(),
    /** Replaces the catalogue's house prompts; an empty list means none. */
    housePrompts: HousePrompts,
    /**
     * Whether a request may be sent to where the prompt of another account began in the same way. Its time
     * to the first token then shows that somebody has used this prompt. By default only prompts of the same
     * account count.
     */
    sharesPrompts: z.boolean().default(false),
    /** Limits of the whole service for this model, over all accounts. */
    globalLimits: Limits.partial().optional(),
  })
  .superRefine(checkMarkup)
  .superRefine(checkEnclaves)
  .superRefine(checkSalts);

/** Prices by name, in USD per unit; the name includes the unit. */
export interface PriceTree {
  [name: string]: number | PriceTree;
}

/** A model that turns texts into vectors. */
export const CatalogEmbeddingModel = z.strictObject({
  ...offer,
  type: z.literal('embedding'),
  /** The length of its vectors. */
  embeddingDimensions: PositiveCount.max(65_536),
  /** The most tokens of one text. Default: the limit of the public interface. */
  maxInputTokens: PositiveCount.default(8_192),
  /** Whether requests may choose shorter vectors. */
  supportsCustomDimensions: z.boolean().default(false),
  /** USD per million tokens. `output` is published for clients that expect it, and never charged. */
  pricing: z.strictObject({ input: Usd, output: Usd.optional() }),
});

/** A model that ranks documents for a query. */
export const CatalogRerankModel = z.strictObject({
  ...offer,
  type: z.literal('rerank'),
  /** The most tokens of the query and one document together. */
  maxInputTokens: PositiveCount.default(8_192),
  /**
   * USD per million tokens, where the query counts with each document, or per search: of a query in up to 100
   * documents, or in as many parts of long ones.
   */
  pricing: z
    .strictObject({ input: Usd.optional(), perSearch: ExtraUsd.optional() })
    .refine(({ input, perSearch }) => (input === undefined) !== (perSearch === undefined), {
      message: 'must have either `input` or `perSearch`',
    }),
});

/** A model that judges whether texts and images are harmful. */
export const CatalogModerationModel = z.strictObject({
  ...offer,
  ...moderationFields,
  /** USD per million tokens. */
  pricing: z.strictObject({ input: Usd }),
});

/** A model that makes videos. */
export const CatalogVideoModel = z
  .strictObject({ ...offer, ...videoFields })
  .superRefine((model, context) => checkVideoPrices(model, context));

/** A model that makes music. */
export const CatalogMusicModel = z
  .strictObject({ ...offer, ...musicFields })
  .superRefine((model, context) => checkMusicPrices(model, context));

/** A model that speaks texts. */
export const CatalogSpeechModel = z
  .strictObject({ ...offer, ...speechMembers })
  .superRefine(checkSpeechMembers);

/** A model that transcribes audio. */
export const CatalogTranscriptionModel = z.strictObject({ ...offer, ...transcriptionMembers });

/** A model that makes images from texts. */
export const CatalogImageModel = z.strictObject({ ...offer, ...imageFields }).superRefine(checkImageModel);

/** A model that edits images. */
export const CatalogEditModel = z.strictObject({ ...offer, ...editFields }).superRefine(checkEditModel);

/** A model that enlarges images. */
export const CatalogUpscaleModel = z.strictObject({ ...offer, ...upscaleFields });

/** The default type is text, whose prices may follow from those of a provider. */
export const CatalogEntry = z.preprocess(
  (value) => {
    if (!isRecord(value)) return value;
    const entry = { ...value, type: value['type'] ?? 'text' };
    return entry.type === 'text' ? withMarkup(entry) : entry;
  },
  z.discriminatedUnion('type', [
    CatalogModel,
    CatalogEmbeddingModel,
    CatalogRerankModel,
    CatalogModerationModel,
    CatalogSpeechModel,
    CatalogTranscriptionModel,
    CatalogImageModel,
    CatalogEditModel,
    CatalogVideoModel,
    CatalogMusicModel,
    CatalogUpscaleModel,
  ]),
);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const TierLimits = z.strictObject({ standard: Limits, partner: Limits.optional() });

/** Kinds of requests with their own limits. */
const OTHER_LIMITS = ['image', 'audio', 'embedding', 'videoQueue', 'videoRetrieve'] as const;

const RequestLimits = z.strictObject({
  standard: z.strictObject({ requestsPerMinute: PositiveCount }),
  partner: z.strictObject({ requestsPerMinute: PositiveCount }).optional(),
});

/**
 * Whether two models may have a name in common: an alias of an image and an inpaint model, between which the
 * route chooses. OpenAI has such names for both.
 */
function canShare(name: string, a: CatalogEntry, b: CatalogEntry): boolean {
  const types = new Set([a.type, b.type]);
  return types.has('image') && types.has('inpaint') && ![a, b].some(({ id }) => id.toLowerCase() === name);
}

/** The catalogue file: the models, their prices and their backends. */
export const CatalogFile = z
  .strictObject({
    models: z.array(CatalogEntry).min(1),
    tiers: z.partialRecord(z.enum(TIERS), TierLimits),
    otherLimits: z.partialRecord(z.enum(OTHER_LIMITS), RequestLimits).optional(),
    /** USD per unit; an extra without a price is free. */
    extras: Extras.partial().default({}),
    /** Without it there is no web search. */
    search: Search.optional(),
    scraping: Scraping.optional(),
    /** Without it there is no access to blockchain nodes. */
    cryptoRpc: CryptoRpc.optional(),
    housePrompts: HousePrompts,
    /** Confirms that these prices differ much from the previous ones: `prices-` and their digest. */
    confirmedPrices: z
      .string()
      .regex(/^prices-[0-9a-f]{12}$/, 'must be what the refusal of the prices names')
      .optional(),
  })
  .superRefine((catalog, context) => {
    const names = new Map<string, CatalogEntry[]>();
    for (const [index, model] of catalog.models.entries()) {
      for (const name of new Set([model.id, ...model.aliases].map((each) => each.toLowerCase()))) {
        const owners = names.get(name) ?? [];
        const other = owners.find((owner) => !canShare(name, owner, model));
        if (other) {
          context.addIssue({
            code: 'custom',
            path: ['models', index],
            message: `the name ${name} is already used by ${other.id}`,
          });
        }
        names.set(name, [...owners, model]);
      }
      if (!catalog.tiers[model.tier]) {
        context.addIssue({
          code: 'custom',
          path: ['models', index, 'tier'],
          message: `must be a tier defined in tiers; ${model.tier} is not defined`,
        });
      }
      const promptModel = 'promptModel' in model ? model.promptModel : undefined;
      const isText = ({ id, type }: CatalogEntry): boolean => id === promptModel && type === 'text';
      if (promptModel !== undefined && !catalog.models.some(isText)) {
        context.addIssue({
          code: 'custom',
          path: ['models', index, 'promptModel'],
          message: `must be the id of a text model; ${promptModel} is not`,
        });
      }
      const { replacementModelId } = model.deprecation ?? {};
      const isReplaced = ({ id, type }: CatalogEntry): boolean =>
        id === replacementModelId && type === model.type && id !== model.id;
      if (replacementModelId !== undefined && !catalog.models.some(isReplaced)) {
        context.addIssue({
          code: 'custom',
          path: ['models', index, 'deprecation', 'replacementModelId'],
          message: `must be the id of another ${model.type} model; ${replacementModelId} is not`,
        });
      }
    }
  });

export type CatalogModel = z.infer<typeof CatalogModel>;
export type CatalogEntry = z.infer<typeof CatalogEntry>;
export type CatalogEmbeddingModel = z.infer<typeof CatalogEmbeddingModel>;
export type CatalogRerankModel = z.infer<typeof CatalogRerankModel>;
export type CatalogModerationModel = z.infer<typeof CatalogModerationModel>;
export type CatalogVideoModel = z.infer<typeof CatalogVideoModel>;
export type CatalogMusicModel = z.infer<typeof CatalogMusicModel>;
export type CatalogSpeechModel = z.infer<typeof CatalogSpeechModel>;
export type CatalogTranscriptionModel = z.infer<typeof CatalogTranscriptionModel>;
export type CatalogImageModel = z.infer<typeof CatalogImageModel>;
export type CatalogEditModel = z.infer<typeof CatalogEditModel>;
export type CatalogUpscaleModel = z.infer<typeof CatalogUpscaleModel>;
export type CatalogFile = z.infer<typeof CatalogFile>;
export type OtherLimit = (typeof OTHER_LIMITS)[number];
export type Extra = keyof CatalogFile['extras'];
export type TokenizerName = (typeof TOKENIZERS)[number];
